-- admit.lua: counts one more join of an address, unless a limit refuses it. One step checks all limits for all
-- replicas.
-- KEYS   1 rate    string  time (µs) until which the joins so far are paid for; absent if that time is over
--        2 places  zset    "room session" of a place that the address took -> its last join (µs)
--        3 day     string  as rate, of the new places of a day; what a repeat paid is given back
-- ARGV   1 price of a join (µs; 0 = no limit of the rate)
--        2 burst: how far into the future joins may be paid for (µs)
--        3 most places of an address (0 = no limit)
--        4 "room session" of this join
--        5 how long places are remembered (ms)
--        6 most places that a refusal lists
--        7 most places of an address in one room (0 = no limit)
--        8 random number below 1, which picks the listed places if there are more
--        9 price of a new place (µs; 0 = no limit of the day), and 10 its burst, for key 3 (as 1 and 2)
-- Returns {"ok", mark, "1" = the place is new}; undo.lua takes the mark. A refusal writes nothing:
-- {"rate", wait (ms)}, {"day", wait (ms)}, or {"places", place, mark, …} with places that the address has.

local COST, AHEAD, MOST = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local NAMED, OF_ROOM, RANDOM = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local clock = redis.call('TIME')
local US = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local DAY_COST, DAY_AHEAD = tonumber(ARGV[9]), tonumber(ARGV[10])

-- paid_until returns until when a key's price is paid, and how long (ms) to wait where that is too far ahead.
local function paid_until(key, cost, ahead)
  local paid = math.max(tonumber(redis.call('GET', key) or 0), US)
  paid = math.min(paid, US + ahead + cost) -- the clock went back
  if paid - US > ahead then return paid, math.ceil((paid - US - ahead) / 1000) end
  return paid
end

local function pay(key, until_us)
  local ttl = string.format('%d', math.ceil((until_us - US) / 1000))
  redis.call('SET', key, string.format('%.0f', until_us), 'PX', ttl)
end

local paid, wait = US, nil
if COST > 0 then
  paid, wait = paid_until(KEYS[1], COST, AHEAD)
  if wait then return { 'rate', string.format('%d', wait) } end
end

local mark, new = string.format('%d', US), '1'
if MOST > 0 then
  new = '0'
  if not redis.call('ZSCORE', KEYS[2], ARGV[4]) then
    local count = redis.call('ZCARD', KEYS[2])
    if count >= MOST then
      local from = math.floor(math.max(count - NAMED + 1, 1) * RANDOM)
      return { 'places', unpack(redis.call('ZRANGE', KEYS[2], from, from + NAMED - 1, 'WITHSCORES')) }
    end
    if OF_ROOM > 0 and count >= OF_ROOM then
      local prefix = string.match(ARGV[4], '^%S+ ')
      local all, here = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'), { 'places' }
      for i = 1, #all, 2 do
        if string.sub(all[i], 1, #prefix) == prefix then
          here[#here + 1] = all[i]
          here[#here + 1] = all[i + 1]
        end
      end
      if (#here - 1) / 2 >= OF_ROOM then return here end
    end
    new = '1'
  end
end
if DAY_COST > 0 then
  local day, full = paid_until(KEYS[3], DAY_COST, DAY_AHEAD)
  if full then return { 'day', string.format('%d', full) } end
  pay(KEYS[3], day + DAY_COST)
end
if MOST > 0 then
  redis.call('ZADD', KEYS[2], mark, ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
if COST > 0 then pay(KEYS[1], paid + COST) end
return { 'ok', mark, new }
