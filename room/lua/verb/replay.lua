-- replay: a process replays what it has observed of the room. Where that is not in the room's past, Redis
-- went back in time (a failover, an older file, an emptied store), and a new epoch begins, above the one that
-- was observed:
--   - a waiter in what is left keeps place, order and ticket, unless the process has observed otherwise since;
--   - the holder of the lock, and a session whose observed place is not there any more, get the outcome lost;
--   - until the last observed lease would have ended, no session is granted the lock;
--   - fences, tickets and the times of leases go on above those that are known, also where Redis's clock is behind.
-- So it does where the ledger knows of a later fence or ticket than the room has. Where another process began
-- the new epoch already, what this one knows is added to that.
-- args.known: fence, ticket (the highest that are known, also to the ledger), over (when the last observed
-- lease was granted or over, ms; 0 = not known),
--   lost (true = the ledger knows of a lease that is lost), ended (when the last lease that the ledger knows of was over, ms; 0 = there is none),
--   lease (null where the last one is over: fence, ticket, granted, left (ms)), last (fence of the last observed lease),
--   places ([{session, ticket, seller, of (epoch), joined, fence, granted, expires, outcome, ended, waited, missed}]; fence where it holds the lock,
--   outcome where it ended, waited where it was observed waiting and the ledger alone says that it ended, missed {fence, granted, expires, ended}: the lease
--   that it did not claim)
-- Codes: replayed, ok, register. Nothing happens where all of it is in the room's past.

local known                          -- args.known
local looked, left_over              -- when the room was last looked at; whether its places are there without the state
local lost, recorded                 -- whether Redis lost writes; whether the ledger alone knows the room

-- end_lost writes that a session's place was lost, or how it ended as a process has observed.
local function end_lost(session, ticket, seller, fence, outcome)
  line.remove(session)
  if seller ~= '' and redis.call('HGET', SELLERS, seller) == session then redis.call('HDEL', SELLERS, seller) end
  if settings.ended_kept > 0 then
    places.put(session, table.concat({ outcome or 'lost', int(ticket), seller, int(NOW), fence and int(fence) or '', '', '' }, '|'))
    redis.call('ZADD', ENDED, int(NOW), session)
  else
    places.put(session, nil, false)
  end
  change.any, news.reset = true, true
end

-- journal_observed journals a place as a process has observed it, so that the ledger has it: Redis may have
-- lost that.
local function journal_observed(f, of)
  journal.record('told', '"of":%d,"ticket":%d,"seller":"%s","joined_at":%d,"fence":%d,"granted_at":%d,"expires_at":%d,"outcome":"%s","ended_at":%d',
    of, f.ticket, f.seller, f.joined or 0, f.fence or 0, f.granted or 0, f.expires or 0, f.outcome or 'lost',
    math.max(f.outcome and f.ended or NOW, f.granted or 0))
end

-- journal_missed journals an unclaimed lease that a process has observed, so that the ledger has it: Redis
-- may have lost that.
local function journal_missed(f)
  local m = f.missed
  journal.record('told', '"of":%d,"ticket":%d,"seller":"%s","fence":%d,"granted_at":%d,"expires_at":%d,"outcome":"unclaimed","ended_at":%d',
    f.of, f.ticket, f.seller, m.fence, m.granted, m.expires, m.ended)
end

-- compare brings one place to what a process has observed of it. While the room answers no call, a live place
-- with a lower ticket is what is left of an earlier one.
local function compare(f)
  if f.missed then journal_missed(f) end
  local p = places.get(f.session)
  local same = p and p.ticket == f.ticket
  if same and not p.live then
    if p.outcome ~= 'lost' or not (f.outcome or (f.fence and p.fence == '')) then return end -- known
    journal_observed(f, f.of) -- another process has observed no end of it, or not that it held the lock
    return end_lost(f.session, f.ticket, f.seller, f.fence, f.outcome)
  end
  if same and f.session == room.session and not lost then return end -- granted since
  local waits = same and redis.call('ZSCORE', QUEUE, f.session)
  if waits and (f.waited or not f.outcome and not f.fence) then return end -- it keeps its place
  journal_observed(f, same and not lost and room.epoch or f.of)
  if same or not p or ((lost or NOW < room.recovers or not p.live) and p.ticket < f.ticket) then end_lost(f.session, f.ticket, f.seller, f.fence, f.outcome) end
end

-- carry ends the places that are not in the line, the holder's among them, and lists the others for the
-- ledger: they go on.
local function carry()
  local kept, list = {}, redis.call('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local live, ticket, seller = list[i + 1]:match('^([^|]*)|(%d+)|([^|]*)|')
    room.tickets = math.max(room.tickets, tonumber(ticket))
    if live == 'live' and redis.call('ZSCORE', QUEUE, list[i]) then
      kept[#kept + 1] = string.format('{"ticket":%d,"seller":"%s"}', ticket, seller)
    elseif live == 'live' then
      end_lost(list[i], ticket, seller, list[i] == room.session and room.fence or nil)
    end
  end
  return table.concat(kept, ',')
end

-- forked reports whether the room has versions that are not in the caller's past: then fences do not say
-- which of two leases is the later one, since each server has a clock of its own.
local function forked() return room.epoch == args.epoch and room.version > lineage.last_common(args.version, args.lineage) end

-- left_of is the lease in what is left, unless the caller has observed a later one, or its end; where the
-- state alone is gone, what the lock key says.
local function left_of()
  if leases.held() and (room.fence > known.last or forked()) then
    return { fence = room.fence, ticket = room.ticket, granted = room.granted, expires = room.expires }
  end
  local text = left_over and redis.call('GET', LOCK)
  local ok, lock = pcall(cjson.decode, text or '')
  if not ok or type(lock) ~= 'table' or not tonumber(lock.fence) then return nil end
  return { fence = tonumber(lock.fence), ticket = tonumber(lock.ticket) or 0, granted = NOW, expires = NOW + redis.call('PTTL', LOCK) }
end

-- go_on_after has later leases begin after those that are known, by whatever clock their times are.
local function go_on_after()
  local at = math.max(room.last_lease_over, room.granted, known.over)
  if at > room.last_lease_over then room.last_lease_over, change.any, change.lease = at, true, true end
end

-- orphan grants the lock to no session until a lease would have ended.
local function orphan(lease)
  if not lease or lease.expires <= NOW or (leases.held() and room.session ~= ORPHANED) then return end
  if room.session == ORPHANED and room.expires >= lease.expires then return end
  room.session, room.seller, room.ticket, room.granted, room.expires = ORPHANED, '', lease.ticket, math.min(lease.granted, NOW), lease.expires
  room.fence = math.max(room.fence, lease.fence)
  leases.reset_codes()
  room.open_party, room.open_at, room.open_other = '', 0, 0
  change.any, change.lease, change.matching = true, true, true
end

local function note_loss(from)
  room.lost_from = clock.missing_from(from, room.lost_at, room.lost_from)
  room.lost_at = math.max(NOW, room.lost_at, room.last_lease_over, known.over) -- no lease is granted, and so none asks, by an earlier time
  room.asks_missing_from, room.asks_missing_until = clock.missing_from(room.lost_from, room.asks_missing_until, room.asks_missing_from), math.max(room.asks_missing_until, room.lost_at)
  change.matching = true
end

-- begin_epoch begins the new epoch.
local function begin_epoch()
  local of, lease = math.max(room.epoch, args.epoch), left_of()
  local last = left_over and 0 or looked
  existence.cancel_sleep()
  existence.forget_absence()
  go_on_after()
  for _, f in ipairs(known.places) do compare(f) end
  local kept = carry()
  room.epoch, room.version = math.max(US, of + 1), 0
  room.session, room.seller, room.ticket, room.granted, room.expires, room.claim_by, room.rank_until_claimed = '', '', 0, 0, 0, 0, nil
  room.lineage = lineage.initial()
  room.recovers = room.history ~= '' and NOW + settings.recovery or 0 -- else the store is in the one process that there is, or does not say when it changes
  redis.call('HDEL', STATE, 'asks')
  leases.reset_codes()
  room.open_party, room.open_at, room.open_other = '', 0, 0
  change.any, change.lease, change.matching, news.reset = true, true, true, true
  note_loss(last)
  journal.record('epoch', '"kept":[' .. kept .. ']')
  orphan(lease)
end

function verb.replay()
  known, looked = args.known, room.advanced_at
  left_over = room.epoch == 0 and redis.call('EXISTS', PLACES) == 1
  -- Neither the ledger nor this process is ahead of a room that lost nothing.
  local ahead = room.epoch > 0 and (args.epoch == 0 or args.epoch == room.epoch)
    and (known.fence > math.max(room.fence, room.highest_fence) or known.ticket > room.tickets)
  lost = left_over or ahead or room.epoch < args.epoch or (room.epoch == args.epoch and args.version > lineage.last_common(args.version, args.lineage))
  recorded = room.epoch == 0 and (known.fence > 0 or known.ticket > 0)

  if (lost or recorded) and existence.unlisted() then return existence.register() end
  if room.epoch > 0 then clock.follow_jump_back() end

  if lost then
    begin_epoch()
  elseif recorded then
    existence.wake()
    change.any = true
  elseif args.epoch > 0 and args.epoch < room.epoch then
    if not leases.held() or room.session == ORPHANED then go_on_after() end
    for _, f in ipairs(known.places) do compare(f) end
    if room.lost_at * 1000 < room.epoch - settings.recovery * 1000 then
      note_loss(0) -- it began without knowing that anything was lost
    elseif known.over > room.lost_at then
      note_loss(room.lost_from) -- the clock is behind
    end
  end
  if lost or recorded or args.epoch < room.epoch then
    if known.ticket > room.tickets then room.tickets, change.any = known.ticket, true end
    if known.fence > room.fence and (not leases.held() or room.session == ORPHANED) then
      room.fence, change.any, change.lease = known.fence, true, true
    elseif known.fence > math.max(room.fence, room.highest_fence) then -- the live lease keeps its own
      room.highest_fence, change.room = known.fence, true
    end
    if recorded and (known.lost or NOW - known.ended < OPEN_FOR) then note_loss(0) end -- its ask may be open
    if known.lease and known.lease ~= cjson.null then
      orphan({ fence = known.lease.fence, ticket = known.lease.ticket, granted = known.lease.granted, expires = NOW + known.lease.left })
    end
  end
  state.commit()
  return reply.make(lost and 'replayed' or 'ok', '')
end
