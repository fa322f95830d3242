-- Stores a subscription of a place. If the place has its maximum, another subscription is deleted.
-- KEYS: the place's subscriptions
-- ARGV: the subscription's name; the subscription; how long they are kept (ms); the maximum
-- Returns the deleted subscription; false if none was deleted.
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
