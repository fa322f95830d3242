-- index/heartbeat.lua: a replica reports that it is alive. It reports presence under its number (see
-- presence.lua).
-- KEYS   1 alive: zset, replica number -> its last heartbeat (ms)
--        2 dead: zset, the same for replicas without a recent heartbeat (see index/claim.lua)
--        3 outage: string, exists while no replica is taken for dead, since none was able to send a heartbeat
--        4 attended: set, the rooms in which the replica has reported presence
-- ARGV   1 the replica's number; one that is not alive gets another number, and has to report presence again
-- Returns the replica's number. It is the time (µs) when it was given, so no number is given twice.

local LATE = 1500 -- no replica's heartbeat for longer than this (ms) is an outage
local ATTENDED_KEPT = 60 * 60 * 1000

local clock = redis.call('TIME')
local us = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local now = math.floor(us / 1000)

local latest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if latest[2] and now - latest[2] > LATE then redis.call('SET', KEYS[3], '1', 'PX', SETTLING) end

local replica = ARGV[1]
if not redis.call('ZSCORE', KEYS[1], replica) then
  repeat
    replica, us = string.format('%.0f', us), us + 1
  until not redis.call('ZSCORE', KEYS[1], replica) and not redis.call('ZSCORE', KEYS[2], replica)
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), replica)
redis.call('PEXPIRE', KEYS[4], ATTENDED_KEPT)
return replica
