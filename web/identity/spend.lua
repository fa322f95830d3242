-- Uses a token up and keeps the session that it is exchanged for.
-- KEYS: the token's mark, the session's record
-- ARGV: the record; until when it is kept, in unix ms; how long the mark is, in ms
-- Returns 1, also to the same session again; 0 where another session used the token.
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
