-- places.lua: the places of sessions: one for each session that holds, waits, or did so lately.
--
-- PLACES has each place as wire.stored_place, under its session. `live` is not stored: it says that the place
-- has no outcome.

local FORGETTING = 8 -- one ending place in so many deletes a few outcomes that were kept for long enough

-- get returns a session's place, nil for none. Only places.put changes what is stored.
function places.get(session)
  local p = memo.places[session]
  if p == nil then
    local text = command('HGET', PLACES, session)
    p = text and wire.read_stored_place(text)
    if p then p.live = p.outcome == '' end
    memo.places[session] = p
  end
  return p or nil
end

-- lost reports whether Redis has lost the places alone, as by an eviction: a holder has one.
function places.lost()
  return room.session ~= ORPHANED and not settings.ephemeral and command('EXISTS', PLACES) == 0
end

-- put writes a session's place, which get returns for the rest of the call.
function places.put(session, p)
  p.live = (p.outcome or '') == ''
  memo.places[session] = wire.new_stored_place(p)
  command('HSET', PLACES, session, wire.stored_place(p))
  if settings.ephemeral and line.length() == 0 and (not leases.held() or room.session == ORPHANED) then
    memo.new_keys[PLACES] = true -- this place may be the first one
  end
end

-- begin gives p.session a new place, with p's seller, channel, lease, asking and address, and publishes and
-- journals it. Its rank is p's, if it has one, or else its ticket: then it is the last in line, if it waits.
-- Session and rank are not stored: the event and the reply have them.
function places.begin(p)
  if places.get(p.session) then command('ZREM', ENDED, p.session) end
  if not p.rank then memo.joined_last = p.session end
  room.tickets = room.tickets + 1
  p.ticket, p.joined, p.rank = room.tickets, NOW, p.rank or int(room.tickets)
  places.put(p.session, p)
  event.add('joined', p)
  journal.record('joined', p)
  change.any = true
  return p
end

-- forget deletes a session's place.
function places.forget(session)
  memo.places[session] = false
  command('HDEL', PLACES, session)
end

-- forget_old deletes a few outcomes that were kept for long enough.
local function forget_old()
  local before = int(NOW - settings.ended_kept)
  local old = command('ZRANGEBYSCORE', ENDED, '-inf', before, 'LIMIT', '0', int(4 * FORGETTING))
  if #old == 0 then return end
  command('ZREM', ENDED, unpack(old))
  command('HDEL', PLACES, unpack(old))
  for _, session in ipairs(old) do memo.places[session] = nil end
end

-- keep_outcome writes a place that ended, for its session to read. ENDED has the time of this call, not when
-- the place ended: a call may notice an end late, and keeps the outcome for the full time from then on.
local function keep_outcome(p)
  local was = memo.places[p.session]
  if was and was.undoable then
    p.undoable, p.channel, p.lease, p.asking, p.address, p.browser =
      true, was.channel, was.lease, was.asking, was.address, was.browser
  end
  places.put(p.session, p)
  command('ZADD', ENDED, int(NOW), p.session)
  if p.ticket % FORGETTING == 0 then forget_old() end
end

-- finish ends a place, publishes that and journals it.
-- `rank` is a waiter's rank, `fence` a holder's fence; by_message is true if a message ended the lease.
function places.finish(session, p, outcome, at, fence, rank, by_message)
  local over = { session = session, ticket = p.ticket, seller = p.seller, outcome = outcome, ended = at,
    fence = fence or 0, rank = rank, by_message = by_message }
  if p.seller ~= '' then command('HDEL', SELLERS, p.seller) end
  if settings.ended_kept > 0 then keep_outcome(over) else places.forget(session) end
  event.add('ended', over)
  journal.record('ended', over)
  change.any = true
end
