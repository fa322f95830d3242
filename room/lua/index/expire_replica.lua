-- index/expire_replica.lua: makes the rooms due in which a dead replica reported presence. verb/expire.lua
-- then takes the replica's reports back in each room.
-- KEYS   1 attended: set, the rooms in which the replica reported presence  2 due (see index/register.lua)
-- ARGV   1 how many rooms at most
-- Returns how many rooms are left in `attended`.

local clock = redis.call('TIME')
local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
for _, room in ipairs(redis.call('SPOP', KEYS[1], ARGV[1])) do redis.call('ZADD', KEYS[2], now, room) end
return redis.call('SCARD', KEYS[1])
