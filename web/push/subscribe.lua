-- Keeps a subscription of a place. Where there are enough, one of the others gives way.
-- KEYS: the place's subscriptions
-- Returns the one that gave way; false for none.
-- ARGV: the subscription's name; the subscription; for how long they are kept, in ms; how many there may be
local gone = false
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  local names = redis.call('HKEYS', KEYS[1])
  if #names >= tonumber(ARGV[4]) then
    gone = redis.call('HGET', KEYS[1], names[1])
    redis.call('HDEL', KEYS[1], names[1])
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return gone
