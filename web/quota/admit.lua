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
--        7 random number below 1, which picks the listed places if there are more
-- Returns {"ok", mark, "1" = the place is new}; undo.lua takes the mark. A refusal writes nothing:
-- {"rate", wait (ms)}, or {"places", place, mark, …} with places that the address has.

local COST, AHEAD, MOST = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
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
    local count, named = redis.call('ZCARD', KEYS[2]), tonumber(ARGV[6])
    if count >= MOST then
      local from = math.floor(math.max(count - named + 1, 1) * tonumber(ARGV[7]))
      return { 'places', unpack(redis.call('ZRANGE', KEYS[2], from, from + named - 1, 'WITHSCORES')) }
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
