-- Makes a link to a place. The place's link before it is over, unless it was used: who used it may come again.
-- KEYS: the new link; which one the place has
-- ARGV: where it leads, sealed; how long it lasts, in ms
-- Returns until when it can be used, in unix ms.
local time = redis.call('TIME')
local last = redis.call('GET', KEYS[2])
if last and redis.call('HEXISTS', last, 'by') == 0 then
  redis.call('DEL', last)
end
redis.call('HSET', KEYS[1], 'place', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], KEYS[1], 'PX', ARGV[2])
return time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
