-- index_due.lua: something becomes due in a room that is listed, which nobody who looked at it knew.
-- KEYS   1 due (see index_register.lua)
-- ARGV   1 room  2 in how long (ms)

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if due and tonumber(due) > at then redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[1]) end
return 1
