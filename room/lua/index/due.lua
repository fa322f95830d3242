-- index/due.lua: something becomes due in a room that is listed, which nobody who looked at it knew.
-- KEYS   1 due (see index/register.lua)
-- ARGV   1 room  2 in how long (ms)
-- Returns 1 when no replica looks at it before. Else a replica may be looking just now, which does not know of this: its claim is void, so that it does
-- not say when to look again.

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due then return 1 end
local alone = tonumber(due) > at
redis.call('ZADD', KEYS[1], string.format('%.0f', alone and at or tonumber(due) - 1), ARGV[1])
return alone and 1 or 0
