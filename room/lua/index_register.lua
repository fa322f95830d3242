-- index_register.lua: a room is about to be used. Written before the room's own script runs, so that
-- a room with a live place is in the index whatever dies in between.
-- KEYS   1 due         zset  room -> look at it then (ms)
--        2 registered  zset  room -> when a process last said that it uses it (ms)
-- ARGV   1 room
-- Returns the time of registration (ms).

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[1])
return now
