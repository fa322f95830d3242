-- index/heartbeat.lua: a replica is alive. Under its host number it has told rooms who is connected to it (see presence.lua).
-- KEYS   1 alive: zset, host number -> its last heartbeat (ms)  2 dead: zset, the same of those that stopped (see index/claim.lua)
--        3 outage: string, there while no replica is judged, since none was able to have a heartbeat
--        4 attended: set, the rooms in which it has said which sessions are connected
-- ARGV   1 its host number; one that is not alive gets a new one, and has to tell again who is connected to it
-- Returns the host number: the time (µs) when it was given, so that no number is ever given twice.

local LATE, TRUSTED = 1500, 3000 -- the latest heartbeat of anybody was longer ago: an outage; within this after it every replica has told again who is there
local ATTENDED_KEPT = 60 * 60 * 1000

local clock = redis.call('TIME')
local us = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local now = math.floor(us / 1000)

local latest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if latest[2] and now - latest[2] > LATE then redis.call('SET', KEYS[3], '1', 'PX', TRUSTED) end

local host = ARGV[1]
if not redis.call('ZSCORE', KEYS[1], host) then
  repeat
    host, us = string.format('%.0f', us), us + 1
  until not redis.call('ZSCORE', KEYS[1], host) and not redis.call('ZSCORE', KEYS[2], host)
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), host)
redis.call('PEXPIRE', KEYS[4], ATTENDED_KEPT)
return host
