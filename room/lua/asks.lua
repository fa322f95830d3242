-- asks.lua: what leases asked for: an ask announces a code, and is open until a code answers it.
--
-- STATE has those of the live lease in its field asks, as a list of wire.ask.

-- of_holder returns the asks of the live lease.
function asks.of_holder()
  return room.asked > 0 and cjson.decode(command('HGET', STATE, 'asks') or '[]') or {}
end

-- left_open reports whether an ended lease may still get a code: it has an open ask. A lease that does not
-- ask and got no code may have asked at any time.
function asks.left_open(lease)
  if not lease.asking then return lease.codes == 0 end
  for _, ask in ipairs(lease.asks) do
    if ask.answered == '' then return true end
  end
  return false
end

-- got_code reports whether a code belongs to a lease.
local function got_code(lease)
  for _, ask in ipairs(lease.asks) do
    if ask.answered ~= '' then return true end
  end
  return lease.codes > 0
end

-- note_left_open records that a lease of a party (a session with its seller) ended with an open ask.
-- With this record the room rarely has to read ended leases.
function asks.note_left_open(party, ended)
  if party == room.open_party then
    room.open_at = max(room.open_at, ended)
  elseif ended < room.open_at then
    room.open_other = max(room.open_other, ended)
  else
    room.open_other, room.open_party, room.open_at = max(room.open_other, room.open_at), party, ended
  end
  change.matching = true
end

-- note_loss records that asks from `from` until `till` may be missing, since Redis lost data.
function asks.note_loss(from, till)
  room.lost_from = clock.missing_from(from, room.lost_at, room.lost_from)
  room.lost_at = max(room.lost_at, till)
  memo.asks_missing_from =
    clock.missing_from(room.lost_from, memo.asks_missing_until, memo.asks_missing_from)
  memo.asks_missing_until = max(memo.asks_missing_until, room.lost_at)
  change.matching = true
end

-- note_lost_leases notes a loss of all asks if Redis has lost the ended leases alone, as by an eviction.
function asks.note_lost_leases()
  local over = room.last_lease_over
  if settings.leases_kept == 0 or over <= max(NOW - settings.leases_kept, room.lost_at) then return end
  if command('EXISTS', LEASES) == 0 then asks.note_loss(0, over) end
end

-- others_quarantine returns when the quarantine began that keeps a party from asking now, nil for none. It
-- begins when another party's lease ends with an open ask: its seller may have pressed at the marketplace
-- until then. A loss of data counts as such an end, since asks from before it may be missing. Ended leases
-- are read only where an ask of theirs may have got its answer since they ended (maybe_answered_until).
local function others_quarantine(party)
  local lost = room.lost_at > 0 and NOW < room.lost_at + settings.quarantine and room.lost_at or nil
  local latest = party == room.open_party and room.open_other or room.open_at
  if latest == 0 or NOW >= latest + settings.quarantine then return lost end
  if latest > room.maybe_answered_until then return max(latest, lost or 0) end
  for lease in leases.past(nil, 2) do
    if NOW >= lease.ended + settings.quarantine then return lost end
    if lease.party ~= party and asks.left_open(lease) then return max(lease.ended, lost or 0) end
  end
  return lost
end

-- may_be_anothers reports whether a message sent at `from` may be the code of another party's lease, which
-- ended less than a quarantine before with an open ask or without a code: its seller may have pressed without
-- asking.
function asks.may_be_anothers(party, from)
  for lease in leases.past(nil, 2) do
    if from >= lease.ended + settings.quarantine then return false end
    if lease.party ~= party and (asks.left_open(lease) or not got_code(lease)) then return true end
  end
  return false
end

-- others_open_at returns when another party's ended lease made its latest open ask, nil if that was more than
-- OPEN_FOR ago. The end of a lease that does not ask and got no code counts as such an ask.
function asks.others_open_at(party)
  for lease in leases.past(nil, 2) do
    if NOW >= lease.ended + OPEN_FOR then return nil end
    local at = not lease.asking and lease.codes == 0 and lease.ended or nil
    for _, ask in ipairs(lease.asks) do
      if ask.answered == '' then at = max(at or 0, ask.at) end
    end
    if at and lease.party ~= party and NOW < at + OPEN_FOR then return at end
  end
end

-- busy_until returns from when on a party may ask, so that its code is not taken for another party's; 0 =
-- now. A quarantine has to pass after another party's lease that left an open ask, and after a time when asks
-- may be missing. An end in the future was before the clock went back, and counts as now.
function asks.busy_until(party)
  local at, free = others_quarantine(party), 0
  if room.second_code_party ~= party and room.second_code_at > 0 then
    at = max(at or 0, room.second_code_at)
  end
  if at then free = min(at, NOW) + settings.quarantine end
  if memo.asks_missing_until > 0 then free = max(free, memo.asks_missing_until + settings.quarantine) end
  return NOW < free and free or 0
end

local function earlier(a, b) return a.at < b.at or (a.at == b.at and a.n < b.n) end

-- add adds an ask to a lease, in the order of their times.
function asks.add(lease, at, answered, filter)
  local n = 0
  for _, a in ipairs(lease.asks) do n = max(n, a.n) end
  table.insert(lease.asks, { n = n + 1, at = at, answered = answered, filter = filter })
  table.sort(lease.asks, earlier)
end

-- take_back makes the ask that a message answered open again, with its old time; the message then answers
-- none.
function asks.take_back(lease, m)
  for _, a in ipairs(lease.asks) do
    if a.answered == m.digest then a.answered = '' end
  end
  if not lease.asking and m.code ~= '' then lease.codes = max(lease.codes - 1, 0) end
  leases.write(lease)
end

-- set_second_code records that a party may get one more code, though its last ask has its answer. `at` is
-- when the lease of that ask ended, or when it asked if the lease is live; 0 = the party gets no further
-- code. No other party may ask until a quarantine after that. matching.second_code_due has the reason.
function asks.set_second_code(party, at)
  if at > 0 then
    room.second_code_party, room.second_code_at, change.matching = party, at, true
  elseif room.second_code_party == party then
    room.second_code_party, room.second_code_at, change.matching = '', 0, true
  end
end

-- was_live reports whether a message that was sent within [from, to) may have been sent in a lease's time.
function asks.was_live(lease, from, to)
  return lease.granted < to and (lease.current or lease.ended > from
    or (lease.ended == lease.granted and lease.granted >= from))
end

-- caused reports whether a lease could have caused a message that was sent within [from, to).
-- It could if it was live then, or had asked at most OPEN_FOR before. The second value is when the lease
-- asked last before the message, 0 = it did not.
function asks.caused(lease, from, to)
  local asked = 0
  for _, a in ipairs(lease.asks) do
    if a.at < to and from - a.at <= OPEN_FOR then asked = max(asked, a.at) end
  end
  return asks.was_live(lease, from, to) or asked > 0, asked
end

local function add_cause(list, lease, from, to)
  local yes, asked = asks.caused(lease, from, to)
  if yes then list[#list + 1] = { lease, asked } end
end

-- causes lists the leases that could have caused a message, the latest
-- first, each with the time of its last ask.
function asks.causes(from, to)
  local list, live = {}, leases.current()
  if live then add_cause(list, live, from, to) end
  for lease in leases.past(to, 8) do
    if lease.ended < from - OPEN_FOR then break end
    add_cause(list, lease, from, to)
  end
  return list
end
