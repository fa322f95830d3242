-- Marks a token as used and stores the session that it is exchanged for.
-- KEYS: the mark of the used token; the session's record
-- ARGV: the record; when it expires (unix ms); how long the mark is kept (ms)
-- Returns 1, also to a repeat by the same session; 0 if another session used the token.
local by = redis.call('GET', KEYS[1])
if by == KEYS[2] then
  return 1
end
if by then
  return 0
end
redis.call('SET', KEYS[1], KEYS[2], 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[1], 'PXAT', ARGV[2])
return 1
