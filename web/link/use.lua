-- Uses a link up, and has a session stand for the place that it leads to.
-- KEYS: the link; the session's standing, by which the link remembers who used it; that a place was joined; how many browsers were let into the place
-- ARGV: the standing, sealed, or '' for none; how long it is kept, in ms; the place's ticket; how many browsers may be let in
-- Returns "done", also to the same session again; "used" where another one has used it, or no more are let in; "none" where there is no such link.
if redis.call('HEXISTS', KEYS[1], 'place') == 0 then
  return 'none'
end
local by = redis.call('HGET', KEYS[1], 'by')
if by and by ~= KEYS[2] then
  return 'used'
end
if not by then
  if tonumber(redis.call('GET', KEYS[4]) or 0) >= tonumber(ARGV[4]) then
    return 'used'
  end
  redis.call('INCR', KEYS[4])
  redis.call('PEXPIRE', KEYS[4], ARGV[2])
end
redis.call('HSET', KEYS[1], 'by', KEYS[2])
if ARGV[1] ~= '' then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
redis.call('SET', KEYS[3], ARGV[3], 'PX', ARGV[2])
return 'done'
