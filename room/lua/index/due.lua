-- index/due.lua: makes a listed room due at a time that no replica knew when it looked at the room.
-- KEYS   1 due (see index/register.lua)
-- ARGV   1 room  2 in how long it is due (ms)
-- Returns 1 if no replica looks at it before that time. Otherwise it returns 0 and voids the claim of the
-- replica that may be looking just now: that replica does not know of the new
-- time, and must not reschedule the room.

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due then return 1 end
local earlier = at < tonumber(due)
redis.call('ZADD', KEYS[1], string.format('%.0f', earlier and at or tonumber(due) - 1), ARGV[1])
return earlier and 1 or 0
