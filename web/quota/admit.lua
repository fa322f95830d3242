-- admit.lua: counts one more join of an address, unless a limit refuses it. One step checks both limits for all
-- replicas.
-- KEYS   1 rate    string  time (µs) until which the joins so far are paid for; absent if that time is over
--        2 places  zset    "room session" of a place that the address took -> its last join (µs)
-- ARGV   1 price of a join (µs; 0 = no limit of the rate)
--        2 burst: how far into the future joins may be paid for (µs)
--        3 most places of an address (0 = no limit)
--        4 "room session" of this join
--        5 how long places are remembered (ms)
--        6 most places that a refusal lists
--        7 most places of an address in one room (0 = no limit)
--        8 random number below 1, which picks the listed places if there are more
-- Returns {"ok", mark, "1" = the place is new}; undo.lua takes the mark. A refusal writes nothing:
-- {"rate", wait (ms)}, or {"places", place, mark, …} with places that the address has.

local COST, AHEAD, MOST = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local NAMED, OF_ROOM, RANDOM = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local clock = redis.call('TIME')
local US = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local paid = US
if COST > 0 then
  paid = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), US)
  paid = math.min(paid, US + AHEAD + COST) -- the clock went back
  if paid - US > AHEAD then return { 'rate', string.format('%d', math.ceil((paid - US - AHEAD) / 1000)) } end
end

local mark, new = string.format('%d', US), '0'
if MOST > 0 then
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
  redis.call('ZADD', KEYS[2], mark, ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
if COST > 0 then
  paid = paid + COST
  redis.call('SET', KEYS[1], string.format('%.0f', paid), 'PX', string.format('%d', math.ceil((paid - US) / 1000)))
end
return { 'ok', mark, new }
