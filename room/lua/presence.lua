-- presence.lua: which sessions have a browser connected, and which waiters are away.
--
-- A replica has a number, under which it says once which sessions have come and which have gone. HERE has a session under the replica that said so
-- first, and "session|replica" under each other one. A session in HERE is connected; one that is taken out was connected until then (SEEN).
-- expire_replicas takes back what a dead replica said. Sessions stay in HERE whatever becomes of their places: their browsers are still there.

-- gone_for reports whether a session that was connected last at `since` has been gone for over `ms`.
function presence.gone_for(since, ms) return since < NOW - ms and NOW >= room.presence_trusted_from end

-- connected_until notes until when a waiter is connected, or was (ms).
function presence.connected_until(session, at)
  redis.call('ZADD', SEEN, int(at), session)
  memo.new_keys[SEEN] = true
end

-- away_since has a waiter passed over, gone since then (ms).
function presence.away_since(session, at)
  redis.call('ZADD', AWAY, int(at), session)
  memo.new_keys[AWAY] = true
end

-- mark_away has a waiter passed over, and returns true; false where a browser of it is connected all the same.
function presence.mark_away(session, since)
  redis.call('ZREM', SEEN, session)
  if redis.call('ZSCORE', HERE, session) then return false end -- the program alone that vouched for it does so no more
  presence.away_since(session, since)
  local p = places.get(session)
  event.add('notes', string.format('{"ticket":%d,"away":true,"since":%d}', p.ticket, since))
  journal.record('away', string.format('"ticket":%d,"seller":"%s","since":%d', p.ticket, p.seller, since))
  return true
end

-- returned has a waiter that was away be so no more.
local function returned(session)
  redis.call('ZREM', AWAY, session)
  memo.returned[session] = true
  local p = places.get(session)
  event.add('notes', string.format('{"ticket":%d,"away":false}', p.ticket))
  journal.record('back', string.format('"ticket":%d,"seller":"%s"', p.ticket, p.seller))
end

-- check marks waiters away and drops those gone for too long, once in a call: its time stands still.
function presence.check()
  if memo.present or NOW < room.presence_trusted_from or line.length() == 0 then return end
  memo.present = true
  local gone = redis.call('ZRANGEBYSCORE', SEEN, '-inf', '(' .. int(NOW - settings.away_after), 'WITHSCORES', 'LIMIT', '0', int(BATCH))
  for i = 1, #gone, 2 do presence.mark_away(gone[i], tonumber(gone[i + 1])) end
  local dropped = redis.call('ZRANGEBYSCORE', AWAY, '-inf', '(' .. int(NOW - settings.away_after - settings.drop_after), 'LIMIT', '0', int(BATCH))
  for _, session in ipairs(dropped) do line.leave(session, 'dropped') end
end

-- back has a waiter count as connected; false where it was gone for so long that it is dropped. A waiter whose turn passed unclaimed stays
-- 'away': it has to say itself that it is back.
function presence.back(session)
  local away = redis.call('ZSCORE', AWAY, session)
  local since = tonumber(away or redis.call('ZSCORE', SEEN, session) or NOW)
  if presence.gone_for(since, settings.away_after + settings.drop_after) then return false end
  if away then
    if places.get(session).unclaimed then return 'away' end
    returned(session)
  end
  return true
end

-- to_claim is until when a waiter that is granted now has to claim its lease (ms): 0 = it has no browser, as far as is known; nil = it has just
-- shown that it is there, or leases need no claim.
function presence.to_claim(session)
  if settings.claim_within == 0 or memo.returned[session] then return nil end
  return (redis.call('ZSCORE', HERE, session) or redis.call('ZSCORE', SEEN, session)) and NOW + settings.claim_within or 0
end

-- claim_lease has the holder claim its lease; false where that was done, or need not be.
function presence.claim_lease()
  if not room.rank_until_claimed then return false end
  if room.claim_by > 0 then change.any, change.lease = true, true end
  room.claim_by, room.rank_until_claimed, change.codes = 0, nil, true -- also of a session without a browser: it need not claim, should a browser come late
  return change.any
end

-- come_back has a session whose turn passed unclaimed wait as it did before. A browser that is not connected counts as gone from now on.
local function come_back(session, p)
  places.put(session, places.live_text(p, 'b' .. p.missed))
  returned(session)
  if not redis.call('ZSCORE', HERE, session) then presence.connected_until(session, NOW) end
  change.any = true
  advance()
  local rank = redis.call('ZSCORE', QUEUE, session)
  if rank then event.add('moved', string.format('{"session":"%s","ticket":%d,"rank":%s,"from":%s}', session, p.ticket, rank, rank)) end
end

-- show_up is a session's own word that it is there; true where that changed how it stands.
function presence.show_up(session, p)
  if room.session == session then return presence.claim_lease() end
  if p.unclaimed then come_back(session, p) end
  return p.unclaimed
end

-- move_to_other has a session be under another replica that it is connected to; false where there is none.
local function move_to_other(session)
  local after = '-inf'
  while true do
    local next_one = redis.call('ZRANGEBYSCORE', HERE, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not next_one[2] then return false end
    local replica = int(tonumber(next_one[2]))
    if redis.call('ZREM', HERE, session .. '|' .. replica) == 1 then
      redis.call('ZADD', HERE, replica, session)
      return true
    end
    after = '(' .. replica
  end
end

-- connect notes that a session is connected to a replica.
function presence.connect(session, replica)
  if line.has(session) then
    if not presence.back(session) then return end
    redis.call('ZREM', SEEN, session)
  elseif session == room.session and room.rank_until_claimed and room.claim_by == 0 and settings.claim_within > 0 then
    leases.claim_by(NOW + settings.claim_within) -- the replica said so late: its turn had come by then
  end
  local at = redis.call('ZSCORE', HERE, session)
  if not at then
    redis.call('ZADD', HERE, replica, session)
  elseif int(tonumber(at)) ~= replica then
    redis.call('ZADD', HERE, replica, session .. '|' .. replica)
  end
end

-- disconnect notes since when a session is connected to a replica no more. It may have gone before the replica said that it had come.
function presence.disconnect(session, replica, since)
  if redis.call('ZREM', HERE, session .. '|' .. replica) == 1 then return end
  local at = redis.call('ZSCORE', HERE, session)
  if at and int(tonumber(at)) ~= replica then return end
  if at then
    redis.call('ZREM', HERE, session)
    if move_to_other(session) then return end
  end
  if line.has(session) and not redis.call('ZSCORE', AWAY, session) and (at or not redis.call('ZSCORE', SEEN, session)) then
    presence.connected_until(session, since)
  end
end

-- expire_replicas takes out what dead replicas said: their sessions were connected until their last heartbeat. `replicas` is as index/claim.lua
-- returns it, "" where the caller does not know. It handles at most BATCH sessions, and returns true where there are more.
function presence.expire_replicas(replicas)
  local asked, outage, alive, dead = replicas:match('^(%d+) (%d+) (%S*) (%S*)$')
  if not asked or room.epoch == 0 then return false end
  clock.suspend_judgement(tonumber(outage))
  local living, last = {}, {}
  for replica in alive:gmatch('%d+') do living[replica] = true end
  for replica, ago in dead:gmatch('(%d+):(%d+)') do last[replica] = NOW - tonumber(ago) end
  local after, left = '-inf', BATCH
  while true do
    local next_one = redis.call('ZRANGEBYSCORE', HERE, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not next_one[2] then return false end
    local replica = int(tonumber(next_one[2]))
    if last[replica] or not living[replica] and tonumber(replica) < tonumber(asked) then -- a number that was given since then is of a living one
      local members = redis.call('ZRANGEBYSCORE', HERE, replica, replica, 'LIMIT', 0, left)
      local said = tonumber((redis.call('HGET', STATE, 'calls:' .. replica) or ''):match('|(%d+)$') or 0) -- maybe after it was taken for dead
      for _, member in ipairs(members) do presence.disconnect(member:match('^[^|]*'), replica, math.max(last[replica] or NOW, said)) end
      left = left - #members
      if left <= 0 then return true end
    end
    after = '(' .. replica
  end
end
