-- Uses a one-time password up and begins a session.
-- KEYS: the password's, the session's
-- ARGV: what the session is, how long it lasts in ms
-- Returns 1, also to the same session again; 0 if there is no such password, or another session took it.
local taken = redis.call('GET', KEYS[1])
if taken == KEYS[2] then
  return 1
end
if taken ~= 'unused' then
  return 0
end
redis.call('SET', KEYS[1], KEYS[2], 'KEEPTTL')
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1
