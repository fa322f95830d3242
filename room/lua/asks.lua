-- asks.lua: what leases asked for: an ask says that a code is on its way, and is open until a code answers it.
--
-- An ask is { n, at, answered, filter }: its number in the lease, when, the digest of the message that answered it ("" = it is open), and which
-- messages it takes (sealed, for Go to read; "" = all). As text: "n,at,answered,filter;…".

-- parse reads the asks of a lease; nil and '' are none.
function asks.parse(text)
  local list = {}
  for n, at, answered, filter in (text or ''):gmatch('(%d+),(%d+),([^,]*),([^;]*);') do
    list[#list + 1] = { n = n + 0, at = at + 0, answered = answered, filter = filter }
  end
  return list
end

-- text is what parse reads.
function asks.text(list)
  local parts = {}
  for i, a in ipairs(list) do parts[i] = int(a.n) .. ',' .. int(a.at) .. ',' .. a.answered .. ',' .. a.filter .. ';' end
  return table.concat(parts)
end

-- last_open is when a lease asked last for a code that has not come: at its end where it does not ask and no code came, since it may have asked at
-- any time; nil where nothing is open.
function asks.last_open(lease)
  if not lease.asking then return lease.codes == 0 and lease.ended or nil end
  local at
  for _, ask in ipairs(lease.asks) do
    if ask.answered == '' and ask.at > (at or -1) then at = ask.at end
  end
  return at
end

-- leave_open notes that a party's ended lease left an ask open, so that most of the time no lease has to be read.
function asks.leave_open(party, at)
  if party == room.open_party then
    room.open_at = math.max(room.open_at, at)
  elseif at < room.open_at then
    room.open_other = math.max(room.open_other, at)
  else
    room.open_other, room.open_party, room.open_at = math.max(room.open_other, room.open_at), party, at
  end
  change.matching = true
end

-- asked_by_others is when another party's lease asked last for a code that has not come, unless that is over `ms` ago; nil for none. What was asked
-- before a loss may not be known any more, so the time of the loss counts as an ask.
function asks.asked_by_others(party, ms)
  local lost = room.lost_at > 0 and NOW < room.lost_at + ms and room.lost_at or nil
  local latest = party == room.open_party and room.open_other or room.open_at
  if latest == 0 or NOW >= latest + ms then return lost end
  if latest > room.maybe_answered_until then return math.max(latest, lost or 0) end
  for lease in leases.past(nil, 2) do
    if NOW >= lease.ended + ms then return lost end
    local at = lease.party ~= party and asks.last_open(lease)
    if at and NOW < at + ms then return math.max(at, lost or 0) end
  end
  return lost
end

-- busy_until is when a party may ask for a code that can be told from another's; 0 = now. An ask that lies ahead was written before the clock went
-- back: it counts as made now.
function asks.busy_until(party)
  local at = asks.asked_by_others(party, settings.quarantine)
  if room.second_code_party ~= party and room.second_code_asked_at > 0 then at = math.max(at or 0, room.second_code_asked_at) end
  local free = math.max(at and math.min(at, NOW) + settings.quarantine or 0, room.asks_missing_until > 0 and room.asks_missing_until + settings.quarantine or 0)
  return NOW < free and free or 0
end

local function earlier(a, b) return a.at < b.at or (a.at == b.at and a.n < b.n) end

-- add adds an ask to a lease where it belongs by its time.
function asks.add(lease, at, answered, filter)
  local n = 0
  for _, a in ipairs(lease.asks) do n = math.max(n, a.n) end
  table.insert(lease.asks, { n = n + 1, at = at, answered = answered, filter = filter })
  table.sort(lease.asks, earlier)
end

-- take_back makes a message the answer to nothing: what it answered is open again as of its old time.
function asks.take_back(lease, m)
  for _, a in ipairs(lease.asks) do
    if a.answered == m.digest then a.answered = '' end
  end
  if not lease.asking and m.code then lease.codes = math.max(lease.codes - 1, 0) end
  leases.write(lease)
end

-- await notes that a party, which asked last at that moment, may get one more code though that ask is answered: see matching.awaited. 0: it may not.
-- Until the quarantine of that ask is over no other party asks.
function asks.await(party, at)
  if at > 0 then
    room.second_code_party, room.second_code_asked_at, change.matching = party, at, true
  elseif room.second_code_party == party then
    room.second_code_party, room.second_code_asked_at, change.matching = '', 0, true
  end
end

-- caused reports whether a lease could have caused a message that was sent within [from, to): it was live then, or had asked at or before that and
-- not too long before; and when it asked last before, 0 = it did not.
function asks.caused(lease, from, to)
  local asked = 0
  for _, a in ipairs(lease.asks) do
    if a.at < to and from - a.at <= OPEN_FOR then asked = math.max(asked, a.at) end
  end
  local live = lease.granted < to and (lease.current or lease.ended > from or (lease.ended == lease.granted and lease.granted >= from))
  return live or asked > 0, asked
end

local function add_cause(list, lease, from, to)
  local yes, asked = asks.caused(lease, from, to)
  if yes then list[#list + 1] = { lease, asked } end
end

-- causes lists the leases that could have caused a message, the latest first, each with the time that it asked last.
function asks.causes(from, to)
  local list, live = {}, leases.current()
  if live then add_cause(list, live, from, to) end
  for lease in leases.past(to, 8) do
    if lease.ended < from - OPEN_FOR then break end
    add_cause(list, lease, from, to)
  end
  return list
end
