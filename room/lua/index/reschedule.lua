-- index/reschedule.lua: sets when a claimed room is due again, after a replica has looked at it.
-- KEYS   1 due  2 registered (see index/register.lua)
-- ARGV   1 room  2 claim  3 when it is due again (ms from now)
--        4 "1" = the room is asleep: it is taken out, unless a process registered it in the last minute
-- Returns 1 if the room was taken out, otherwise 0. A claim that was voided since changes nothing.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local REGISTERED_FOR = 60 * 1000

if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local registered = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0)
if ARGV[4] == '1' and registered < now - REGISTERED_FOR then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 1
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[1])
return 0
