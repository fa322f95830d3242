-- Counts a try to sign in before anything is done for it, unless there were too many.
-- KEYS: of each limit its tries of the window, and the id of the try that was reported as too many
-- ARGV: the try's id, the window in ms, and of each limit the most tries
-- Returns: how long to wait in ms (0: counted), and of each limit 1 if this try is the window's first refusal.
-- The same id again gets the same reply.
local id, window = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limits = #KEYS / 2
local reply = {0}
for i = 1, limits do reply[1 + i] = 0 end
if redis.call('ZSCORE', KEYS[1], id) then
  return reply
end
for i = 1, limits do
  local tries, reported, most = KEYS[2 * i - 1], KEYS[2 * i], tonumber(ARGV[2 + i])
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - window)
  if redis.call('ZCARD', tries) >= most then
    local oldest = redis.call('ZRANGE', tries, 0, 0, 'WITHSCORES')
    reply[1] = math.max(reply[1], math.min(tonumber(oldest[2]) + window - now, window), 1)
    if redis.call('SET', reported, id, 'NX', 'PX', window) or redis.call('GET', reported) == id then
      reply[1 + i] = 1
    end
  end
end
if reply[1] == 0 then
  for i = 1, limits do
    redis.call('ZADD', KEYS[2 * i - 1], now, id)
    redis.call('PEXPIRE', KEYS[2 * i - 1], window)
  end
end
return reply
