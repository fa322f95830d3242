-- presence.lua: which sessions have a browser connected, and which waiters are away.
--
-- A replica reports once which sessions have connected to it and which have gone, under its number.
-- HERE has a session under the replica that reported it first, and "session|replica" under each other
-- one. A session in HERE is connected; one that is taken out was connected until then, as SEEN has it.
-- expire_replicas takes back the reports of a dead replica. A session stays in HERE whatever becomes
-- of its place: its browser is still there.

-- gone_for reports whether a session that was connected last at `since` has been gone for over `ms`.
function presence.gone_for(since, ms) return since < NOW - ms and NOW >= room.presence_trusted_from end

-- connected_until records until when a waiter is connected, or was.
function presence.connected_until(session, at)
  command('ZADD', SEEN, int(at), session)
  memo.new_keys[SEEN] = true
end

-- away_since marks a waiter as passed over, gone since `at`.
function presence.away_since(session, at)
  command('ZADD', AWAY, int(at), session)
  memo.new_keys[AWAY] = true
end

-- has_browser reports whether a session has a browser, or had one in this place. One that only uses the API
-- is never away.
function presence.has_browser(session)
  return (places.get(session).browser or command('ZSCORE', HERE, session)
    or command('ZSCORE', SEEN, session) or command('ZSCORE', AWAY, session)) and true or false
end

-- remember_browser records in a holder's place that it had a browser, where HERE and SEEN do not have it any
-- more. The verb restore has to know.
function presence.remember_browser(session)
  local p = settings.ended_kept > 0 and places.get(session)
  if p and not p.browser then
    p.browser = true
    places.put(session, p)
  end
end

-- mark_away marks a waiter as passed over and returns true; false if the waiter's browser is connected. Then
-- it only ends the time for which a program vouched for the waiter.
function presence.mark_away(session, since)
  command('ZREM', SEEN, session)
  if command('ZSCORE', HERE, session) then return false end
  presence.away_since(session, since)
  local p = places.get(session)
  event.note({ ticket = p.ticket, away = true, since = since })
  journal.record('away', { ticket = p.ticket, seller = p.seller, since = since })
  return true
end

-- mark_returned marks a waiter that was away as present again.
local function mark_returned(session)
  command('ZREM', AWAY, session)
  memo.returned[session] = true
  local p = places.get(session)
  event.note({ ticket = p.ticket, away = false })
  journal.record('back', p)
end

-- mark_gone marks waiters away and drops those gone for too long, once in a call.
function presence.mark_gone()
  if memo.presence_checked or NOW < room.presence_trusted_from or line.length() == 0 then return end
  memo.presence_checked = true
  local before = '(' .. int(NOW - settings.away_after)
  local gone = command('ZRANGEBYSCORE', SEEN, '-inf', before, 'WITHSCORES', 'LIMIT', '0', int(BATCH))
  for i = 1, #gone, 2 do presence.mark_away(gone[i], tonumber(gone[i + 1])) end
  before = '(' .. int(NOW - settings.away_after - settings.drop_after)
  local dropped = command('ZRANGEBYSCORE', AWAY, '-inf', before, 'LIMIT', '0', int(BATCH))
  for _, session in ipairs(dropped) do line.leave(session, 'dropped') end
end

-- mark_present marks a waiter as connected; false if it was gone for so long that it is dropped. A waiter
-- whose turn passed unclaimed stays away until its session reports that it is back; mark_present returns
-- 'away' then.
function presence.mark_present(session)
  local away = command('ZSCORE', AWAY, session)
  local since = tonumber(away or command('ZSCORE', SEEN, session) or NOW)
  if presence.gone_for(since, settings.away_after + settings.drop_after) then return false end
  if away then
    if places.get(session).unclaimed then return 'away' end
    mark_returned(session)
  end
  return true
end

-- claim_deadline returns until when a waiter that is granted now has to claim its lease.
-- It returns 0 if the waiter has no browser, as far as is known; nil if it has just shown that it is there,
-- or if leases need no claim.
function presence.claim_deadline(session)
  if settings.claim_within == 0 or memo.returned[session] then return nil end
  local known = command('ZSCORE', HERE, session) or command('ZSCORE', SEEN, session)
  return known and NOW + settings.claim_within or 0
end

-- claim_lease marks the lease as claimed by its holder, unless it is claimed already or need not be.
-- A session without a browser claims too: then it need not claim when its browser connects later. claim_lease
-- returns true if it marked the lease and this call has changed what replicas see.
function presence.claim_lease()
  if not room.rank_until_claimed then return false end
  if room.claim_by > 0 then change.any, change.lease = true, true end
  room.claim_by, room.rank_until_claimed, change.codes = 0, nil, true
  return change.any
end

-- return_to_line makes a session whose turn passed unclaimed a normal waiter again.
-- Without a connected browser it counts as gone from now on.
local function return_to_line(session, p)
  p.unclaimed = false
  places.put(session, p)
  mark_returned(session)
  if not command('ZSCORE', HERE, session) then presence.connected_until(session, NOW) end
  change.any = true
  advance()
  local rank = command('ZSCORE', QUEUE, session)
  if rank then
    p.session, p.rank, p.from = session, rank, rank
    event.add('moved', p)
  end
end

-- stay makes a waiter whose browser has gone count as there for a while, since its session made a call. It
-- returns true if the waiter was away. A session that never had a browser is never away.
local function stay(session)
  if command('ZSCORE', HERE, session) then return false end
  local away, until_now = command('ZSCORE', AWAY, session), command('ZSCORE', SEEN, session)
  if not (away or until_now) then return false end
  if away then mark_returned(session) end
  presence.connected_until(session, max(NOW, tonumber(until_now or 0)))
  if away then advance() end
  return away and true or false
end

-- confirm handles a session's own report that it is there; it returns true if that changed its standing.
function presence.confirm(session, p)
  if room.session == session then return presence.claim_lease() end
  if not p.unclaimed then return stay(session) end
  return_to_line(session, p)
  return true
end

-- after_replica returns the lowest replica number in HERE from the bound `number` on, nil for none. '-inf' is
-- no bound; '(' before a number excludes it.
local function after_replica(number)
  local entry = command('ZRANGEBYSCORE', HERE, number, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return entry[2] and int(tonumber(entry[2]))
end

-- move_to_other puts a session under another replica that it is connected to; false if there is none.
local function move_to_other(session)
  local replica = after_replica('-inf')
  while replica do
    if command('ZREM', HERE, session .. '|' .. replica) == 1 then
      command('ZADD', HERE, replica, session)
      return true
    end
    replica = after_replica('(' .. replica)
  end
  return false
end

-- connect records that a session is connected to a replica.
-- If the session already holds the lock when the report comes, it has to claim its lease from now on.
function presence.connect(session, replica)
  if line.has(session) then
    if not presence.mark_present(session) then return end
    command('ZREM', SEEN, session)
  elseif session == room.session and room.rank_until_claimed and room.claim_by == 0
    and settings.claim_within > 0 then
    leases.claim_by(NOW + settings.claim_within)
  end
  local at = command('ZSCORE', HERE, session)
  if not at then
    command('ZADD', HERE, replica, session)
  elseif int(tonumber(at)) ~= replica then
    command('ZADD', HERE, replica, session .. '|' .. replica)
  end
end

-- disconnect records since when a session is connected to a replica no more.
-- A session may have gone before the replica reported that it had connected.
function presence.disconnect(session, replica, since)
  if command('ZREM', HERE, session .. '|' .. replica) == 1 then return end
  local at = command('ZSCORE', HERE, session)
  if at and int(tonumber(at)) ~= replica then return end
  if at then
    command('ZREM', HERE, session)
    if move_to_other(session) then return end
  end
  if session == room.session then presence.remember_browser(session) end
  if line.has(session) and not command('ZSCORE', AWAY, session)
    and (at or not command('ZSCORE', SEEN, session)) then
    presence.connected_until(session, since)
  end
end

-- parse_replicas returns which replicas are alive, and when each dead one sent its last heartbeat.
local function parse_replicas(alive, dead)
  local living, last = {}, {}
  for replica in alive:gmatch('%d+') do living[replica] = true end
  for replica, ago in dead:gmatch('(%d+):(%d+)') do last[replica] = NOW - tonumber(ago) end
  return living, last
end

-- last_report returns when a replica last reported presence in this room, 0 = it never did.
local function last_report(replica)
  return tonumber((command('HGET', STATE, 'calls:' .. replica) or ''):match('|(%d+)$') or 0)
end

-- expire_replicas takes back the reports of dead replicas, and returns true if more than BATCH sessions are
-- left. The sessions of a dead replica count as connected until its last heartbeat, or its last report in
-- this room if that came later. `replicas` is as index/claim.lua returns it, "" if the caller does not know.
-- A replica that is in neither list is dead, unless it got its number after the list was made.
function presence.expire_replicas(replicas)
  local listed_at, outage, alive, dead = replicas:match('^(%d+) (%d+) (%S*) (%S*)$')
  if not listed_at or room.epoch == 0 then return false end
  clock.suspend_presence(tonumber(outage))
  local living, last = parse_replicas(alive, dead)
  local replica, left = after_replica('-inf'), BATCH
  while replica do
    if last[replica] or not living[replica] and tonumber(replica) < tonumber(listed_at) then
      local members = command('ZRANGEBYSCORE', HERE, replica, replica, 'LIMIT', 0, left)
      local since = max(last[replica] or NOW, last_report(replica))
      for _, member in ipairs(members) do presence.disconnect(member:match('^[^|]*'), replica, since) end
      left = left - #members
      if left <= 0 then return true end
    end
    replica = after_replica('(' .. replica)
  end
  return false
end
