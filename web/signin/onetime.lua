-- Uses a one-time password up and begins a session.
-- KEYS: the password's, the session's, the index of sessions
-- ARGV: what the session is, how long it lasts without use in ms, its end in unix ms, its name in the index,
-- how long the index lasts in ms
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
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[5])
return 1
