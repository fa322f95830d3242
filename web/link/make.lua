-- Makes a link to a place. The place's previous link is deleted unless it was used: the browser that used it
-- may open it again.
-- KEYS: the new link; the name of the place's current link
-- ARGV: the place, sealed; the link's lifetime (ms)
-- Returns when the link expires (unix ms).
local time = redis.call('TIME')
local last = redis.call('GET', KEYS[2])
if last and redis.call('HEXISTS', last, 'by') == 0 then
  redis.call('DEL', last)
end
redis.call('HSET', KEYS[1], 'place', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], KEYS[1], 'PX', ARGV[2])
return time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
