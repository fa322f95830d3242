-- Counts a try to sign in before the password is checked, unless there were too many.
-- KEYS: for a name and then for an address: its tries of the window, and the mark that it was told that they were too many
-- ARGV: the try's id, the window in ms, the most tries of a name, the most from an address
-- Returns: how long to wait in ms (0: counted), and for the name and the address 1 where this is the first to be told of the window.
-- The same id again is told the same.
local id, window, most = ARGV[1], tonumber(ARGV[2]), {tonumber(ARGV[3]), tonumber(ARGV[4])}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZSCORE', KEYS[1], id) then
  return {0, 0, 0}
end
local after, first = 0, {0, 0}
for i = 1, 2 do
  local tries, told = KEYS[2 * i - 1], KEYS[2 * i]
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - window)
  if redis.call('ZCARD', tries) >= most[i] then
    local oldest = redis.call('ZRANGE', tries, 0, 0, 'WITHSCORES')
    after = math.max(after, math.min(tonumber(oldest[2]) + window - now, window), 1)
    if redis.call('SET', told, id, 'NX', 'PX', window) or redis.call('GET', told) == id then
      first[i] = 1
    end
  end
end
if after == 0 then
  for i = 1, 3, 2 do
    redis.call('ZADD', KEYS[i], now, id)
    redis.call('PEXPIRE', KEYS[i], window)
  end
end
return {after, first[1], first[2]}
