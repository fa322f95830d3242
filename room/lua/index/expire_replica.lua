-- index/bury.lua: a replica has died; the rooms in which it told who is connected to it are due at once, for expire.lua to take that back.
-- KEYS   1 attended: set, the rooms in which the replica has told that  2 due (see index/register.lua)
-- ARGV   1 how many rooms at the most
-- Returns how many are left.

local clock = redis.call('TIME')
local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
for _, room in ipairs(redis.call('SPOP', KEYS[1], ARGV[1])) do redis.call('ZADD', KEYS[2], now, room) end
return redis.call('SCARD', KEYS[1])
