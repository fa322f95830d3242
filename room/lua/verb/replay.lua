-- replay: a process replays what it has observed of the room.
--
-- If that is not in the room's past, Redis went back in time (a failover, an older file, an emptied
-- store). Then a new epoch begins, above the one that was observed:
--   - a waiter that is still in Redis keeps its place and order, unless the process has observed otherwise;
--   - the holder, and a session whose observed place is in Redis no more, get the outcome lost;
--   - until the last observed lease would have ended, no session is granted the lock;
--   - fences, tickets and times of leases continue above the known ones, even if Redis's clock is behind.
-- The same happens if the ledger knows a later fence or ticket than the room. If another process has begun
-- the new epoch already, what this process knows is added to it.
--
-- args:
--   epoch, version, lineage  the last that were observed; epoch 0 = none
--   known                    what was observed, and what the ledger knows:
--     fence, ticket  the highest that are known, also to the ledger
--     over           when the last observed lease was granted or over, 0 = not known
--     lost           whether the ledger has a lease without an end
--     ended          when the last lease in the ledger was over, 0 = there is none
--     last           fence of the last observed lease
--     lease          that lease, null if it is over: fence, ticket, granted, left (ms)
--     places         the observed places, each with session, ticket, seller, of (its epoch), joined,
--       fence, granted, expires  if it holds the lock
--       outcome, ended           if it has ended
--       waited                   whether it was observed waiting, and its end is known from the ledger alone
--       missed                   the lease that it did not claim: fence, granted, expires, ended
-- Codes: replayed (a new epoch has begun), ok, register (see existence.register)
-- Publishes that every replica has to read the whole room, if anything has changed.

local known        -- args.known
local advanced_at  -- when the room was last brought to the present before this call
local state_lost   -- whether Redis has the room's places, but not its state
local lost         -- whether Redis lost writes that the process or the ledger has
local recorded     -- whether the ledger knows the room, and Redis does not

-- end_place ends a session's place as lost, or as the process has observed it to end.
local function end_place(session, ticket, seller, fence, outcome)
  line.remove(session)
  if seller ~= '' and command('HGET', SELLERS, seller) == session then
    command('HDEL', SELLERS, seller)
  end
  if settings.ended_kept > 0 then
    places.put(session, { ticket = ticket, seller = seller, outcome = outcome or 'lost', ended = NOW,
      fence = fence })
    command('ZADD', ENDED, int(NOW), session)
  else
    places.forget(session)
  end
  change.any, news.reset = true, true
end

-- journal_observed journals a place as the process has observed it, since Redis may have lost that record.
local function journal_observed(place, of)
  journal.record('told', { of = of, ticket = place.ticket, seller = place.seller, joined = place.joined,
    fence = place.fence, granted = place.granted, expires = place.expires, outcome = place.outcome or 'lost',
    ended = max(place.outcome and place.ended or NOW, place.granted or 0) })
end

-- journal_missed journals the lease that an observed place did not
-- claim, since Redis may have lost that record.
local function journal_missed(place)
  local missed = place.missed
  journal.record('told', { of = place.of, ticket = place.ticket, seller = place.seller, fence = missed.fence,
    granted = missed.granted, expires = missed.expires, outcome = 'unclaimed', ended = missed.ended })
end

local function end_observed(place)
  end_place(place.session, place.ticket, place.seller, place.fence, place.outcome)
end

-- update_lost adds what the process has observed to an ended place, if Redis has the place as lost. Another
-- process may have observed no end of it, or not that it held the lock.
local function update_lost(p, place)
  if p.outcome ~= 'lost' or not (place.outcome or (place.fence and p.fence == 0)) then return end
  journal_observed(place, place.of)
  end_observed(place)
end

-- compare applies what the process has observed of one place. In the recovery window, if the session has a
-- live place with a lower ticket, that is an earlier place whose end Redis lost.
local function compare(place)
  if place.missed then journal_missed(place) end
  local p = places.get(place.session)
  local same = p and p.ticket == place.ticket
  if same and not p.live then return update_lost(p, place) end
  if same and place.session == room.session and not lost then return end -- it has been granted the lock since
  local waits = same and command('ZSCORE', QUEUE, place.session)
  if waits and (place.waited or not place.outcome and not place.fence) then return end -- it keeps its place
  journal_observed(place, same and not lost and room.epoch or place.of)
  local earlier = p and p.ticket < place.ticket and (lost or NOW < room.recovers or not p.live)
  if same or not p or earlier then end_observed(place) end
end

-- keep_waiters ends the live places that are not in the line, the holder's among them.
-- It returns the others for the ledger: they continue in the new epoch.
local function keep_waiters()
  local kept, list = {}, command('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local p = wire.read_stored_place(list[i + 1])
    room.tickets = max(room.tickets, p.ticket)
    if p.outcome == '' and command('ZSCORE', QUEUE, list[i]) then
      kept[#kept + 1] = p
    elseif p.outcome == '' then
      end_place(list[i], p.ticket, p.seller, list[i] == room.session and room.fence or nil)
    end
  end
  return kept
end

-- has_forked reports whether the room has versions that are not in the caller's past.
-- Then fences do not show which of two leases is the later one, since each server has a clock of its own.
local function has_forked()
  return room.epoch == args.epoch and room.version > lineage.last_common(args.version, args.lineage)
end

-- lease_in_lock returns the lease in the lock key, nil for none.
local function lease_in_lock()
  local ok, lock = pcall(cjson.decode, command('GET', LOCK) or '')
  if not ok or type(lock) ~= 'table' or not tonumber(lock.fence) then return nil end
  return { fence = tonumber(lock.fence), ticket = tonumber(lock.ticket) or 0, granted = NOW,
    expires = NOW + command('PTTL', LOCK) }
end

-- remaining_lease returns the lease that Redis has, unless the process has observed a later one, or its end.
local function remaining_lease()
  if leases.held() and (room.fence > known.last or has_forked()) then
    return { fence = room.fence, ticket = room.ticket, granted = room.granted, expires = room.expires }
  end
  return state_lost and lease_in_lock() or nil
end

-- begin_later makes the next lease begin after all known ones, even if other clocks set their times.
local function begin_later()
  local at = max(room.last_lease_over, room.granted, known.over)
  if at > room.last_lease_over then room.last_lease_over, change.any, change.lease = at, true, true end
end

local function free_lock()
  room.session, room.seller, room.ticket, room.granted, room.expires = '', '', 0, 0, 0
  room.claim_by, room.rank_until_claimed = 0, nil
end

local function forget_asks()
  leases.reset_codes()
  room.open_party, room.open_at, room.open_other = '', 0, 0
end

-- orphan reserves the lock until a lease that Redis has lost would have ended.
local function orphan(lease)
  if not lease or lease.expires <= NOW or (leases.held() and room.session ~= ORPHANED) then return end
  if room.session == ORPHANED and room.expires >= lease.expires then return end
  leases.reserve(lease)
  forget_asks()
  change.matching = true
end

-- note_loss records that asks since `from` may be missing.
-- No lease is granted, and so none asks, before the last known one is over.
local function note_loss(from) asks.note_loss(from, max(NOW, room.last_lease_over, known.over)) end

-- begin_epoch begins the new epoch.
-- The epoch has a recovery window only if the server reports its replication history. Otherwise Redis is
-- embedded in this one process, or does not report when its history changes.
local function begin_epoch()
  local of, lease = max(room.epoch, args.epoch), remaining_lease()
  existence.cancel_sleep()
  existence.forget_absence()
  begin_later()
  if memo.places_lost then command('DEL', QUEUE, SELLERS, SEEN, AWAY, ENDED) end
  for _, place in ipairs(known.places) do compare(place) end
  local kept = keep_waiters()
  room.epoch, room.version = max(US, of + 1), 0
  free_lock()
  room.lineage = lineage.initial()
  room.recovers = memo.history ~= '' and NOW + settings.recovery or 0
  command('HDEL', STATE, 'asks')
  forget_asks()
  change.any, change.lease, change.matching, news.reset = true, true, true, true
  note_loss(state_lost and 0 or advanced_at)
  journal.record('epoch', { kept = kept })
  orphan(lease)
end

-- add_to_epoch adds what the process has observed to an epoch that another process has begun. That process
-- may not have known that anything was lost, or Redis's clock may be behind what this process has observed.
local function add_to_epoch()
  if not leases.held() or room.session == ORPHANED then begin_later() end
  for _, place in ipairs(known.places) do compare(place) end
  if room.lost_at * 1000 < room.epoch - settings.recovery * 1000 then
    note_loss(0)
  elseif known.over > room.lost_at then
    note_loss(room.lost_from)
  end
end

-- add_known raises the highest fence and ticket to the known ones, and reserves the lock for a known lease. A
-- live lease keeps its fence.
local function add_known()
  if known.ticket > room.tickets then room.tickets, change.any = known.ticket, true end
  if known.fence > room.fence and (not leases.held() or room.session == ORPHANED) then
    room.fence, change.any, change.lease = known.fence, true, true
  elseif known.fence > max(room.fence, room.highest_fence) then
    room.highest_fence, change.room = known.fence, true
  end
  if recorded and (known.lost or NOW - known.ended < OPEN_FOR) then note_loss(0) end -- its ask may be open
  local lease = known.lease
  if lease and lease ~= cjson.null then
    local expires = NOW + lease.left
    orphan({ fence = lease.fence, ticket = lease.ticket, granted = lease.granted, expires = expires })
  end
end

-- is_lost reports whether Redis lost writes that the process has observed, or that the ledger has. Of a room
-- that lost nothing, neither has anything later than Redis.
local function is_lost()
  local same_epoch = room.epoch == args.epoch
  local ahead = room.epoch > 0 and (args.epoch == 0 or same_epoch)
    and (known.fence > max(room.fence, room.highest_fence) or known.ticket > room.tickets)
  return state_lost or memo.places_lost or ahead or room.epoch < args.epoch
    or (same_epoch and args.version > lineage.last_common(args.version, args.lineage))
end

prepare.replay = 'itself'
function verb.replay()
  known, advanced_at = args.known, room.advanced_at
  state_lost = room.epoch == 0 and command('EXISTS', PLACES) == 1
  lost = is_lost()
  recorded = room.epoch == 0 and (known.fence > 0 or known.ticket > 0)

  if (lost or recorded) and existence.unlisted() then return existence.register() end
  if room.epoch > 0 then clock.follow_jump_back() end

  if lost then
    begin_epoch()
  elseif recorded then
    existence.wake()
    change.any = true
  elseif args.epoch > 0 and args.epoch < room.epoch then
    add_to_epoch()
  end
  if lost or recorded or args.epoch < room.epoch then add_known() end
  return lost and 'replayed' or 'ok'
end
