-- here.lua: whose browser is connected, and to which replicas. For presence.lua and expire.lua.
-- Each replica has a host number, under which it tells once who has come and who has gone. A session is in HERE under the replica that told of it
-- first, and as "session|host" under each other one. Who is in HERE is there; who is taken out of it was there until then (SEEN). What a replica
-- that has died told is taken back by bury. Sessions stay in HERE whatever becomes of their places: their browsers are still there.

-- other_host makes the replica where else the session is the one that it is under; false where there is none.
local function other_host(session)
  local after = '-inf'
  while true do
    local next = redis.call('ZRANGEBYSCORE', HERE, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not next[2] then return false end
    local host = int(tonumber(next[2]))
    if redis.call('ZREM', HERE, session .. '|' .. host) == 1 then
      redis.call('ZADD', HERE, host, session)
      return true
    end
    after = '(' .. host
  end
end

-- come notes that a session is connected to a replica.
local function come(session, host)
  if waits(session) then
    if not back(session) then return end
    redis.call('ZREM', SEEN, session)
  elseif session == S.session and S.rank and S.claim == 0 and CLAIM_WITHIN > 0 then
    times().claim_by(NOW + CLAIM_WITHIN) -- told late: its turn had come by then
  end
  local at = redis.call('ZSCORE', HERE, session)
  if not at then
    redis.call('ZADD', HERE, host, session)
  elseif int(tonumber(at)) ~= host then
    redis.call('ZADD', HERE, host, session .. '|' .. host)
  end
end

-- go notes that a session is connected to a replica no more, since then. It may have gone before its coming was told.
local function go(session, host, since)
  if redis.call('ZREM', HERE, session .. '|' .. host) == 1 then return end
  local at = redis.call('ZSCORE', HERE, session)
  if at and int(tonumber(at)) ~= host then return end
  if at then
    redis.call('ZREM', HERE, session)
    if other_host(session) then return end
  end
  if waits(session) and not redis.call('ZSCORE', AWAY, session) and (at or not redis.call('ZSCORE', SEEN, session)) then
    waiters().there_until(session, since)
  end
end

-- bury takes out what was told by replicas that have died: they were there until their last heartbeat. `hosts` says who is alive (see index_claim.lua):
-- "asked(µs) outage(ms) host,host,… host:last heartbeat(ms ago),…"; "" = the caller does not know. At most BATCH sessions; true where there are more.
local function bury(hosts)
  local asked, outage, alive, dead = hosts:match('^(%d+) (%d+) (%S*) (%S*)$')
  if not asked or S.epoch == 0 then return false end
  times().trust(tonumber(outage))
  local living, last = {}, {}
  for host in alive:gmatch('%d+') do living[host] = true end
  for host, ago in dead:gmatch('(%d+):(%d+)') do last[host] = NOW - tonumber(ago) end
  local after, left = '-inf', BATCH
  while true do
    local next = redis.call('ZRANGEBYSCORE', HERE, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not next[2] then return false end
    local host = int(tonumber(next[2]))
    if last[host] or not living[host] and tonumber(host) < tonumber(asked) then -- a number given since then is nobody's who has died
      local those = redis.call('ZRANGEBYSCORE', HERE, host, host, 'LIMIT', 0, left)
      local told = tonumber((redis.call('HGET', STATE, 'calls:' .. host) or ''):match('|(%d+)$') or 0) -- it may have told something after it was taken for dead
      for _, member in ipairs(those) do go(member:match('^[^|]*'), host, math.max(last[host] or NOW, told)) end
      left = left - #those
      if left <= 0 then return true end
    end
    after = '(' .. host
  end
end

return come, go, bury
