-- admit.lua: may an address join once more? Both limits in one step, over all replicas.
-- KEYS   1 rate    string  until when (µs) the joins so far are paid for; gone when there is nothing to pay
--        2 places  zset    "room session" of the places that the address took -> when it last asked for that place (µs)
-- ARGV   1 what a join costs (µs, 0 = no limit)  2 how far ahead joins may be paid for later (µs): the burst
--        3 how many places there may be (0 = no limit)  4 "room session" that asks  5 how long places are remembered (ms)
--        6 how many places are named at the most  7 which of them, where there are more: a random number below 1
-- Returns {"ok", mark, 1 = the place is a new one}; the mark is what undo.lua wants. Or, and nothing was written or paid:
-- {"rate", wait (ms)}, or {"places", place, mark, …}: there are as many as there may be.

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
