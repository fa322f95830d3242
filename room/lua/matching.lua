-- matching.lua: which lease a message belongs to: the one that could have caused it, or none where two could. docs/matching.md has the rules in words.
--
-- A message was sent at some moment from sms.earliest up to but not including sms.latest. `l` is a lease, as leases.current returns it.
-- Rule 3 (quarantine) is verb/expect.lua's, rule 4 (a message without a code has no effect) verb/match.lua's, rule 6 (what fits) Go's.

local NAMED = 25           -- characters of a sealed filter that name it: the id of its key and a nonce, which no other filter has

local PARTS = 2             -- which of OWN has the parts of the same long message; the others have the first message of the same text

local sms                  -- args.message, with earliest and latest
local found, rest          -- the leases that were granted before it was sent, as far as they were read, and the reader of the others
local unasked, unasked_of  -- filters of which Go has not said whether the message fits, and the lease of the first of them

-- behind_most is how far the carrier's clock may be behind without a code on another's page.
local function behind_most() return math.floor(settings.quarantine / 6) end
matching.behind_most = behind_most

-- begin has the functions below look at a message.
function matching.begin(message)
  local read, reader = leases.past(message.latest, 8)
  sms, found, unasked, unasked_of = message, {}, nil, nil
  rest = { read = read, reader = reader }
  if leases.held() and room.granted < sms.latest then found[1] = leases.current() end
end

-- candidate returns the i-th of the live lease and those before it, the latest first, of those that were granted before the message was sent.
local function candidate(i)
  while #found < i do
    local l = rest.read(rest.reader)
    if not l then return nil end
    found[#found + 1] = l
  end
  return found[i]
end
matching.candidate = candidate

-- touched counts the leases in whose time the message may have been sent, and finds one of them that does not ask (rule 1).
function matching.touched()
  local n, plain = 0, nil
  local l = candidate(1)
  while l and (l.current or l.ended > sms.earliest or (l.ended == l.granted and l.granted >= sms.earliest)) do
    n = n + 1
    plain = plain or (not l.asking and l)
    l = candidate(n + 1)
  end
  return n, plain
end

-- fits reports whether the message fits an ask, and whether it may: a filter that was sealed with another secret cannot be read.
local function fits(l, a)
  if a.filter == '' then return true, true end
  local known = sms.fits[a.filter:sub(1, NAMED)]
  if known == nil then
    unasked, unasked_of = unasked or {}, unasked_of or l
    unasked[#unasked + 1] = a.filter
  end
  return known == 'yes', known ~= 'no'
end

local function may_fit(l, a) return select(2, fits(l, a)) end

-- open_ask returns the earliest ask that a code answers, and whether the message fits any ask at all.
local function open_ask(l, list)
  local first, ok
  for _, a in ipairs(list) do
    if not a.unsaid and fits(l, a) then
      ok = true
      if a.answered == '' and not first then first = a end
    end
  end
  return first, ok
end

-- quarantined reports whether an earlier lease has an unanswered ask that could explain this message. Against a lease that asks, asks of its own
-- party do not count, nor asks that the message does not fit.
local function quarantined(mine)
  if sms.earliest >= room.open_at + settings.quarantine then return false end
  local i, yes = 1, false
  local l = candidate(i)
  while l and (l.current or l.ended >= sms.earliest - settings.quarantine) do
    if l.fence < mine.fence and l.asking and not (mine.asking and l.party == mine.party) then
      for _, a in ipairs(l.asks) do
        local in_time = a.answered == '' and a.at < sms.latest and sms.earliest < a.at + settings.quarantine
        if in_time and (not mine.asking or may_fit(l, a)) then yes = true end
      end
    elseif l.fence < mine.fence and not l.asking and mine.asking and l.party ~= mine.party and l.codes == 0
      and l.ended < sms.latest and sms.earliest < l.ended + settings.quarantine then
      yes = true -- its code was taken back
    end
    i = i + 1
    l = candidate(i)
  end
  return yes
end

-- has_open reports whether an ended lease has an unanswered ask that is not too long before.
local function has_open(l)
  for _, a in ipairs(l.asks) do
    if a.answered == '' and sms.earliest - a.at <= OPEN_FOR then return true end
  end
  return false
end

-- asked_before lists the asks of a lease that were made at or before the message was sent, and not too long before, the earliest first.
local function asked_before(l)
  local list = {}
  for _, a in ipairs(l.asks) do
    if a.at < sms.latest and sms.earliest - a.at <= OPEN_FOR then list[#list + 1] = a end
  end
  return list
end

-- may_have_caused lists the asks of a lease that count: of the live one all, of an ended one while one of them is open. A lease that does not ask and
-- got no code may have asked at any time: as if at its end.
local function may_have_caused(l)
  if l.asking then
    if l.current or has_open(l) then return asked_before(l) end
  elseif not l.current and l.codes == 0 and l.ended < sms.latest and sms.earliest - l.ended <= OPEN_FOR then
    return { { at = l.ended, unsaid = true } }
  end
  return {}
end

-- asker returns the lease that asked last at or before the message was sent, and its asks (rule 2); or nil and 'ambiguous'. Where an ended lease
-- asked for such a message less than a quarantine ago and has its codes, one of them may have been another's that came late, and this may be its
-- own: it is ambiguous for a lease that asked longer ago than that. Then that lease is returned behind 'ambiguous', for behind.
local function asker()
  local i, mine, its_asks, first, answered, displaced = 1, nil, nil, nil, {}, false
  local l = candidate(i)
  while l and (l.current or l.ended >= sms.earliest - OPEN_FOR) do
    local list = may_have_caused(l)
    if #list > 0 and mine then
      if list[1].at < first then return nil, 'ambiguous' end
    elseif #list > 0 then
      for _, party in ipairs(answered) do
        displaced = displaced or party ~= l.party and sms.latest - 1 - list[#list].at >= settings.quarantine
      end
      mine, its_asks, first = l, list, list[1].at
      if first <= sms.earliest then break end -- it asked before: no other lease can have asked later
    elseif l.asking and not l.current then
      for _, a in ipairs(asked_before(l)) do
        if sms.earliest - a.at < settings.quarantine and may_fit(l, a) then answered[#answered + 1] = l.party end
      end
    end
    i = i + 1
    l = candidate(i)
  end
  if not mine then return nil end
  if its_asks[1].unsaid then return nil, 'ambiguous', mine end
  -- Two open asks are closer than a quarantine where the first one's answer was taken back.
  local close, _, ok = quarantined(mine), open_ask(mine, its_asks)
  if ok and (displaced or close) then return nil, 'ambiguous', displaced and mine end
  return mine, its_asks
end

-- note_asks takes the asks of a lease of a party into w, which awaited looks at: from the latest lease to the earlier ones.
local function note_asks(w, l)
  if l.party ~= w.party then return end
  local asked = false
  for _, a in ipairs(l.asks) do
    local answered = a.answered ~= '' or (w.ask and l.fence == w.fence and a.n == w.ask.n)
    local may = may_fit(l, a)
    if may and a.at < sms.latest then w.last, asked = math.max(w.last, a.at), true end
    w.open = w.open or w.later and not answered and (w.going_on or may and sms.earliest < a.at + settings.quarantine)
  end
  w.later = w.later or asked
end

-- awaited is when the party of a lease asked last, where an ask of an earlier turn of it is open still and this code, which answers `ask`, may have
-- been the answer to that: then it cannot be told for which of its asks the code is that is still to come. Where one is to come already, this goes
-- on until no such ask is open, whatever codes come. 0: it is not so.
function matching.second_code_due(mine, ask)
  local left = mine.party == room.open_party and room.open_at or room.open_other
  local going_on = room.second_code_party == mine.party and sms.earliest < room.second_code_asked_at + settings.quarantine
  if ask and not going_on and sms.earliest >= left + settings.quarantine then return 0 end
  local w = { party = mine.party, fence = mine.fence, ask = ask, going_on = going_on, last = going_on and room.second_code_asked_at or 0, open = false, later = going_on }
  local live = leases.current()
  if live then note_asks(w, live) end
  for l in leases.past(nil, 8) do
    if l.ended < sms.earliest - OPEN_FOR then break end
    note_asks(w, l)
  end
  return w.open and w.last or 0
end

-- others_within reports whether a message that was sent within [from, to) would be another lease's than `plain` by rule 2, or it could not be told whose.
local function others_within(plain, from, to)
  if from >= to then return false end
  local earliest, latest = sms.earliest, sms.latest
  sms.earliest, sms.latest = from, to
  local l, list = asker()
  local theirs = list == 'ambiguous' or (l and l.fence ~= plain.fence and select(2, open_ask(l, list)))
  sms.earliest, sms.latest = earliest, latest
  return theirs
end

-- asked_outside reports whether the message may have been sent before or after the lease, and would be another's then.
local function asked_outside(plain)
  return others_within(plain, sms.earliest, math.min(sms.latest, plain.granted)) or
    (not plain.current and plain.codes > 0 and others_within(plain, math.max(sms.earliest, plain.ended), sms.latest))
end

-- asks_lost reports whether an ask that is not known any more, or whose time says nothing, may have caused the message.
function matching.asks_lost() return room.asks_missing_until > 0 and sms.earliest < room.asks_missing_until + settings.quarantine end

-- second_code reports whether a party that asked in two turns still waits for its second code, which may be this.
local function may_be_second_code() return room.second_code_asked_at > 0 and room.second_code_asked_at < sms.latest and sms.earliest < room.second_code_asked_at + settings.quarantine end

-- asked_soon reports whether a lease of another party asked shortly after the message claims to have been sent. Of a lease that is over an ask
-- counts that was answered, too: its code may have been another's.
local function asked_soon(l, mine)
  if l.party == mine.party then return false end
  for _, a in ipairs(l.asks) do
    if (a.answered == '' or not l.current) and a.at >= sms.latest and a.at < sms.latest + behind_most() then return true end
  end
  return false
end

-- behind returns the lease of another party that may have caused this instead of `mine`, which is over, where the carrier's clock is behind. Asks
-- are a quarantine apart, so there is none where the last open ask of `mine` is not that old yet. The number is free at once after a lease that
-- does not ask and has its code, so this may be so of any message in its time.
local function behind(mine)
  if mine.current then return nil end
  local last
  for _, a in ipairs(mine.asks) do
    if a.answered == '' and a.at < sms.latest then last = a.at end
  end
  if last and sms.latest - 1 - last <= settings.quarantine - behind_most() then return nil end
  local live = leases.current()
  if live and asked_soon(live, mine) then return live end
  for l in leases.past(sms.latest + behind_most(), 8) do
    if l.ended < sms.latest then return nil end
    if asked_soon(l, mine) then return l end
  end
end

-- judge returns the lease that the message belongs to by its time and the asks, and the ask that a code answers; or nil, the reason, and, where the
-- carrier's clock may be the cause of it, the lease that it may belong to.
function matching.judge()
  if sms.foreign then return nil, 'not_expected' end
  if sms.too_old then return nil, 'no_lease' end
  local leases_touched, plain = matching.touched()
  if plain then
    if leases_touched > 1 or quarantined(plain) or may_be_second_code() or matching.asks_lost() or asked_outside(plain) then return nil, 'ambiguous' end
    local other = behind(plain)
    if other then return nil, 'ambiguous', other end
    return plain, nil
  end
  local l, list, over = asker()
  if list == 'ambiguous' then return nil, list, over and behind(over) or nil end
  -- Asks since the last writes that are left are not known: a lease that asked before the loss need not have been the last.
  if l and (sms.latest > room.asks_missing_from and matching.asks_lost() or sms.latest > room.lost_from and list[#list].at <= room.lost_at) then
    return nil, 'ambiguous'
  end
  if l then
    local ask, ok = open_ask(l, list)
    if ok then
      local other = behind(l)
      if other then return nil, 'ambiguous', other end
      return l, ask
    end
  end
  return nil, leases_touched > 0 and 'not_expected' or 'no_lease'
end

-- asked_too reports whether another party has an open ask that the message may answer.
local function asked_too(party)
  local i = 1
  local l = candidate(i)
  while l and (l.current or l.ended >= sms.earliest - OPEN_FOR) do
    if l.party ~= party then
      for _, a in ipairs(asked_before(l)) do
        if a.answered == '' and may_fit(l, a) then return true end
      end
    end
    i = i + 1
    l = candidate(i)
  end
end

-- could_be reports whether a party could have caused the first message of the same text too, and has not rejected it.
function matching.could_be(party, first)
  for fence in first.rejected:gmatch('%d+') do
    local l = leases.by_fence(tonumber(fence))
    if l and l.party == party then return false end
  end
  for _, cause in ipairs(asks.causes(first.from, first.to)) do
    if cause[1].party == party then return true end
  end
  return false
end

-- same returns the message that this one duplicates (rule 5), nil for none. Where that one belongs to a lease, it returns the lease of this one too:
-- the same, or a later one of the same party that has an open ask; nil and 'ambiguous' where it may be another party's as well. Then the ask, and
-- whether this is shown as a message of its own.
function matching.same()
  if sms.foreign then return nil end
  local first
  for i, key in ipairs(OWN) do
    if i ~= PARTS then first = first or redis.call('GET', key) end
  end
  local m = first and messages.get(first)
  if not m then return nil end
  if m.state ~= 's' and m.state ~= 'w' then return m end
  local owner = leases.by_fence(m.fence)
  if not owner then return nil end
  local i = 1
  local l = candidate(i)
  while l and l.fence > m.fence do
    if l.party == owner.party and l.asking then
      local ask = open_ask(l, may_have_caused(l))
      if ask then return m, l, ask, true end
    end
    i = i + 1
    l = candidate(i)
  end
  local ask = open_ask(owner, may_have_caused(owner))
  if not ask and asked_too(owner.party) then return m, nil, 'ambiguous' end
  return m, owner, ask, false
end

-- long returns what came before of the long message that this is a part of; nil where nothing did, or all of it had come: then its ref is used again.
function matching.long()
  if sms.part == 0 or sms.foreign then return nil end
  local known = redis.call('GET', OWN[PARTS])
  if not known then return nil end
  local digest, answered, numbers, code_at = known:match('^([^|]*)|(%d)|([^|]*)|?(%d*)$')
  local _, came = numbers:gsub('%d+', '')
  local first, again = messages.get(digest), numbers:find(',' .. int(sms.part) .. ',', 1, true) ~= nil
  if not first or (again and came >= sms.parts) then return nil end
  return { first = first, answered = answered == '1', numbers = numbers, code_at = tonumber(code_at), again = again, twice = numbers:find('*', 1, true) ~= nil }
end

-- asked_after reports whether a lease of another party asked after a moment.
local function asked_after(l, party, at)
  for _, a in ipairs(l.party ~= party and l.asks or {}) do
    if a.at > at then return true end
  end
  return false
end

-- asked_since reports whether another party asked after a moment, whether its code has come or not.
local function asked_since(party, at)
  local live = leases.current()
  if live and asked_after(live, party, at) then return true end
  for l in leases.past(nil, 8) do
    if l.ended < at then return false end
    if asked_after(l, party, at) then return true end
  end
end

-- part returns the lease and the ask where another part of the message came before: the lease of that one. Where two messages may have the same ref,
-- it has to be so by its own time too.
function matching.part(whole)
  local first = whole.first
  local l = (first.state == 's' or first.state == 'w') and leases.by_fence(first.fence) or nil
  if not l then
    local _, _, other = matching.judge()
    return nil, first.reason ~= '' and first.reason or 'ambiguous', other
  end
  if whole.twice then
    local own = matching.judge()
    if not own or own.party ~= l.party then return nil, 'ambiguous' end
  end
  if sms.code and whole.code_at and asked_since(l.party, whole.code_at) then return nil, 'ambiguous' end
  if whole.answered then return l end
  local list = may_have_caused(l)
  local ask = open_ask(l, list)
  for _, a in ipairs(list) do -- another part may have had the piece that its ask wants
    if not ask and a.answered == '' and not a.unsaid then ask = a end
  end
  return l, ask
end

-- unknown returns the filters of which Go has to say first whether the message fits, nil for none, and the lease of the first of them.
function matching.unknown() return unasked, unasked_of end

