-- Uses a link up, and lets a session act for the link's place.
-- KEYS: the link; the session's record, whose name the link keeps as its user; the ticket of the place that was
--       joined last; the number of browsers that joined the place
-- ARGV: the record, sealed, or '' for none; how long it is kept (ms); the place's ticket; the most browsers
-- Returns "done", also to a repeat by the same session; "used" if another session used the link or too many
-- browsers joined; "none" if there is no such link.
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
