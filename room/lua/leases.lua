-- leases.lua: the lease that holds the lock, and those that have ended.
--
-- LEASES has ended leases as wire.ended_lease. A lease's party is its session together with its seller,
-- "session=seller": if sellers need not sign in (SELLER_AUTH=open), one session may join as several sellers.

local FORGETTING = 8 -- one ending lease in so many deletes leases that were kept for long enough
local NS = 1000 * 1000 -- of a millisecond

-- held reports whether the lock is held, also for a holder that was lost (ORPHANED).
function leases.held() return room.session ~= '' end

-- deadline returns when the lease ends by itself.
function leases.deadline()
  return room.claim_by > 0 and min(room.claim_by, room.expires) or room.expires
end

-- json returns the lease as people read it in the lock key.
function leases.json(session, seller, ticket, fence, granted, expires)
  return '{"session_id":"' .. session .. '","seller_id":"' .. seller .. '","ticket":' .. int(ticket) ..
    ',"fence":' .. int(fence) .. ',"locked_at":"' .. iso(granted) ..
    '","expires_at":"' .. iso(expires) .. '"}'
end

-- journal_extended journals the lease's new end, after a call has moved it.
function leases.journal_extended()
  journal.record('extended', room)
end

-- reset_codes gives the lease no asks, codes or rejections.
function leases.reset_codes()
  room.asking, room.asked, room.open, room.ask_after, room.last_ask = false, 0, 0, 0, 0
  room.codes, room.rejects, room.end_extended = 0, 0, false
end

-- claim_by gives the holder until `at` to claim its lease, unless it has longer.
function leases.claim_by(at)
  if at > room.claim_by then room.claim_by, change.any, change.lease = at, true, true end
end

-- grant gives the free lock to a session, with a fence above every one before.
-- `claim_by` is what presence.claim_deadline returned. Leases do not overlap, even if the clock goes back.
function leases.grant(session, p, rank, claim_by)
  room.session, room.seller, room.ticket = session, p.seller, p.ticket
  room.fence, room.highest_fence = max(US, room.fence + 1, room.highest_fence + 1), 0
  room.granted = max(NOW, room.last_lease_over)
  room.expires = NOW + (p.lease > 0 and p.lease or settings.lease)
  news.rank = rank
  if claim_by then room.claim_by, room.rank_until_claimed = claim_by, rank end
  room.evicted = rare.evicts and lineage.evicted() or 0
  leases.reset_codes()
  local keeps = settings.leases_kept > 0
  room.asking = settings.required or p.asking
  room.ask_after = keeps and asks.busy_until(session .. '=' .. p.seller) or 0
  change.any, change.lease, change.codes = true, true, keeps
  journal.record('granted', room)
end

-- parse returns an ended lease from its text in LEASES.
local function parse(text)
  local lease = wire.read_ended_lease(text)
  lease.text, lease.party = text, lease.session .. '=' .. lease.seller
  return lease
end

-- keep_ended writes the lease that ends to LEASES: late messages are matched against it.
local function keep_ended(ended)
  room.ended, room.asks = ended, asks.of_holder()
  command('ZADD', LEASES, int(room.granted), wire.ended_lease(room))
  if room.fence % FORGETTING == 0 then
    command('ZREMRANGEBYSCORE', LEASES, '-inf', int(NOW - settings.leases_kept))
  end
  local open = room.open > 0
  if not room.asking then open = room.codes == 0 end -- without asks it may have asked at any time
  local party = room.session .. '=' .. room.seller
  if open then asks.note_left_open(party, ended) end
  if party == room.second_code_party then
    asks.set_second_code(party, max(room.second_code_at, ended))
  end
  if room.asked > 0 then command('HDEL', STATE, 'asks') end
end

-- free ends the lease and returns when it was over: `at`, or later if something happened in it later. The
-- next call of advance grants the lock to the next waiter. After a loss of data, the room may know of leases
-- that ended later than this one.
function leases.free(at)
  at = max(at, room.granted, room.last_ask)
  room.last_lease_over = max(room.last_lease_over, at)
  if settings.leases_kept > 0 then
    -- The session of a lost lease may not know that it is lost, and press until its end.
    if room.session == ORPHANED then asks.note_loss(at, at) else keep_ended(at) end
  end
  room.session, room.seller, room.ticket, room.granted, room.expires = '', '', 0, 0, 0
  room.claim_by, room.rank_until_claimed = 0, nil
  leases.reset_codes()
  change.any, change.lease = true, true
  return at
end

-- learn takes how long a lease was held (ms) into the average.
-- The nth lease weighs 1/(n + 1); from the ninth on, each lease weighs a tenth. See lab/estimates.md.
local function learn(held_for)
  room.holds = min(room.holds + 1, 9)
  local weight, off = 1 / (room.holds + 1), min(held_for, settings.lease) * NS - room.hold
  local spread = math.sqrt((1 - weight) * (room.spread * room.spread + weight * off * off))
  state.set_average(room.hold + weight * off, spread)
  change.room = true
end

-- finish ends the lease and its holder's place; by_message is true if a message ended it.
function leases.finish(outcome, at, by_message)
  local session, fence, granted = room.session, room.fence, room.granted
  local p = { ticket = room.ticket, seller = room.seller }
  at = leases.free(at)
  if session == ORPHANED then return end -- the holder's place ended when it was lost
  learn(at - granted)
  places.finish(session, p, outcome, at, fence, nil, by_message)
end

-- reserve keeps the lock until a lease that was lost would have ended, without a holder.
function leases.reserve(lease)
  room.session, room.seller, room.ticket = ORPHANED, '', lease.ticket
  room.granted, room.expires = min(lease.granted, NOW), lease.expires
  room.fence = max(room.fence, lease.fence)
  change.any, change.lease = true, true
end

-- lose ends a lease whose lock key Redis has evicted: its holder's place ends, and the lock is reserved until
-- the lease would have ended.
function leases.lose()
  local lease = { fence = room.fence, ticket = room.ticket, granted = room.granted, expires = room.expires }
  if room.session ~= ORPHANED then leases.finish('lost', NOW) end
  leases.reserve(lease)
  room.evicted = lineage.evicted()
end

-- finish_unclaimed ends a lease that was not claimed in time, and puts its holder back into the line as away.
-- The holder keeps its rank, and is passed over until its session reports that it is back.
-- If it happens to the same place a second time, the place ends instead.
function leases.finish_unclaimed()
  local session, fence, rank, p = room.session, room.fence, room.rank_until_claimed, places.get(room.session)
  local at = leases.free(room.claim_by)
  journal.record('ended', { ticket = p.ticket, seller = p.seller, outcome = 'unclaimed', ended = at,
    fence = fence })
  if p.missed > 0 then return places.finish(session, p, 'dropped', at, fence, nil) end
  p.missed, p.unclaimed = fence, true
  places.put(session, p)
  line.enqueue(session, rank)
  presence.away_since(session, at - settings.away_after) -- a session is away only away_after later
  p.session, p.rank, p.at = session, rank, at
  event.add('missed', p)
  event.note({ ticket = p.ticket, away = true, since = at })
end

-- next_past is the iterator of past: it returns the next ended lease, nil after the last.
local function next_past(reader)
  if reader.i > #reader.list then
    reader.list = command('ZREVRANGEBYSCORE', LEASES, reader.before, '-inf',
      'LIMIT', int(reader.from), int(reader.step))
    reader.from, reader.i = reader.from + reader.step, 1
    if #reader.list == 0 then return nil end
  end
  reader.i = reader.i + 1
  return parse(reader.list[reader.i - 1])
end

-- past iterates over the ended leases, the latest first, and reads `step` at a time.
-- With `to` it iterates only over those that were granted before it.
function leases.past(to, step)
  return next_past, { before = to and '(' .. int(to) or '+inf', from = 0, step = step, i = 1, list = {} }
end

-- current returns the live lease in the shape of an ended one, nil if there is none.
-- While Redis takes no writes, it also returns a lease that is over but could not be ended: see advance.lua.
function leases.current()
  local session = leases.held() and room.session or memo.ended_session
  if not session or session == ORPHANED then return nil end
  return { current = leases.held(), fence = room.fence, ticket = room.ticket, session = session,
    seller = room.seller, party = session .. '=' .. room.seller, granted = room.granted,
    ended = leases.held() and room.expires or min(room.expires, NOW),
    asking = room.asking, codes = room.codes, rejects = room.rejects,
    asks = asks.of_holder() }
end

-- by_fence returns the lease with a fence, live or ended in the last day, nil if there is none.
function leases.by_fence(fence)
  if leases.held() and room.fence == fence then return leases.current() end
  for lease in leases.past(nil, 8) do
    if lease.fence == fence then return lease end
    if lease.fence < fence then return nil end
  end
end

-- write_current takes the live lease's asks and flags into the state.
local function write_current(lease)
  local asked, open, last = #lease.asks, 0, 0
  for _, a in ipairs(lease.asks) do
    if a.answered == '' then open = open + 1 end
    last = max(last, a.at)
  end
  if asked > 0 then command('HSET', STATE, 'asks', wire.list(lease.asks, wire.ask)) end
  if asked ~= room.asked or open ~= room.open then change.any = true end
  room.asked, room.open, room.last_ask = asked, open, last
  room.asking, room.codes, room.rejects = lease.asking, lease.codes, lease.rejects
  change.codes = true
end

-- update_ask_after sets from when on the holder may ask, after the asks of an ended lease have changed.
local function update_ask_after()
  local after = asks.busy_until(room.session .. '=' .. room.seller)
  if after ~= room.ask_after and (after > NOW or room.ask_after > NOW) then
    room.ask_after, change.any, change.codes = after, true, true
  end
end

-- write writes a lease's asks and flags, and what follows from them for the holder and for matching.
function leases.write(lease)
  if lease.current then return write_current(lease) end
  local text = wire.ended_lease(lease)
  command('ZADD', LEASES, int(lease.granted), text)
  if text ~= lease.text then command('ZREM', LEASES, lease.text) end
  lease.text = text
  if asks.left_open(lease) then asks.note_left_open(lease.party, lease.ended) end
  if room.open_at > room.maybe_answered_until then
    room.maybe_answered_until, change.matching = room.open_at, true
  end
  if leases.held() then update_ask_after() end
end
