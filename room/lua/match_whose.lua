-- match_whose.lua: whose a message is that was sent in the window FROM to TO. The second part of match.lua.
--
-- A party is a session as one seller. The rules (docs/matching.md has them in words):
--   plain    rule 1: within the time of a lease that is not asking
--   asker    rule 2: the lease that asked last at or before it was sent
--   same     rule 5: the same sender and text is the same message; so are the parts of one
-- Rule 3 (quarantine) is expect.lua's; rule 4 (no code, no effect) is in match_bind.lua; rule 6 (what fits) is Go's.

-- lease(i) is the live lease and those before it, the latest first, of those that were granted before the message was sent.
local leases, before = {}, past(TO, 8)
if held() and S.granted < TO then leases[1] = current() end
local function lease(i)
  while #leases < i do
    local l = before()
    if not l then return nil end
    leases[#leases + 1] = l
  end
  return leases[i]
end

-- touched counts the leases in whose time it may have been sent, and finds one of them that is not asking.
local function touched()
  local n, plain = 0, nil
  local l = lease(1)
  while l and (l.current or l.ended > FROM or (l.ended == l.granted and l.granted >= FROM)) do
    n = n + 1
    plain = plain or (not l.asking and l)
    l = lease(n + 1)
  end
  return n, plain
end

local BEHIND = math.floor(QUARANTINE / 6) -- so far the carrier's clock may be behind, and no code goes to another's page
local NAMED = 25 -- characters of a sealed filter: the id of its key and a nonce, which no other has
local unasked, unasked_of -- filters of which Go has not said whether it fits, and whose the first of them is

-- fits says whether it fits an ask, and whether it may: nobody knows of a filter that was sealed with another secret.
local function fits(l, a)
  if a.filter == '' then return true, true end
  local known = A.fits[a.filter:sub(1, NAMED)]
  if known == nil then
    unasked, unasked_of = unasked or {}, unasked_of or l
    unasked[#unasked + 1] = a.filter
  end
  return known == 'yes', known ~= 'no'
end

local function may_fit(l, a) return select(2, fits(l, a)) end

-- open_ask is the earliest ask that a code answers; ok says whether any ask fits at all.
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

-- quarantined: a lease before this one asked, its code has not come, and may be what this is. Against a lease that asks, its own party's do not count, nor asks that it does not fit.
local function quarantined(mine)
  if FROM >= S.open_at + QUARANTINE then return false end
  local i, found = 1, false
  local l = lease(i)
  while l and (l.current or l.ended >= FROM - QUARANTINE) do
    if l.fence < mine.fence and l.asking and not (mine.asking and l.party == mine.party) then
      for _, a in ipairs(l.asks) do
        if a.answered == '' and a.at < TO and FROM < a.at + QUARANTINE and (not mine.asking or may_fit(l, a)) then found = true end
      end
    elseif l.fence < mine.fence and not l.asking and mine.asking and l.party ~= mine.party and l.codes == 0 and l.ended < TO and FROM < l.ended + QUARANTINE then
      found = true -- its code was taken back
    end
    i = i + 1
    l = lease(i)
  end
  return found
end

-- has_open says whether an ended lease has an ask that no code came for, and that is not too long before.
local function has_open(l)
  for _, a in ipairs(l.asks) do
    if a.answered == '' and FROM - a.at <= OPEN_FOR then return true end
  end
  return false
end

-- asked_before lists the asks of a lease that were made at or before the message was sent, and not too long before, the earliest first.
local function asked_before(l)
  local list = {}
  for _, a in ipairs(l.asks) do
    if a.at < TO and FROM - a.at <= OPEN_FOR then list[#list + 1] = a end
  end
  return list
end

-- candidates lists what a lease may have asked this for: the live one where it has asked, an ended one while an ask of it is open.
-- A lease that was not asking and got no code may have asked at any time: as if at its end.
local function candidates(l)
  if l.asking then
    if l.current or has_open(l) then return asked_before(l) end
  elseif not l.current and l.codes == 0 and l.ended < TO and FROM - l.ended <= OPEN_FOR then
    return { { at = l.ended, unsaid = true } }
  end
  return {}
end

-- asker finds the lease that asked last at or before the message was sent, and its asks; or that this can not be told. Where an ended
-- lease asked for such a message less than a quarantine ago and has its codes, one of them may have been another's that came late, and this may be its own:
-- who asked longer ago than that is not sure to be meant. Then the lease that asked last is named all the same, for behind.
local function asker()
  local i, found, asks, first, answered, displaced = 1, nil, nil, nil, {}, false
  local l = lease(i)
  while l and (l.current or l.ended >= FROM - OPEN_FOR) do
    local list = candidates(l)
    if #list > 0 and found then
      if list[1].at < first then return nil, 'ambiguous' end
    elseif #list > 0 then
      for _, party in ipairs(answered) do
        displaced = displaced or party ~= l.party and TO - 1 - list[#list].at >= QUARANTINE
      end
      found, asks, first = l, list, list[1].at
      if first <= FROM then break end -- it asked before: nobody else can have asked later
    elseif l.asking and not l.current then
      for _, a in ipairs(asked_before(l)) do
        if FROM - a.at < QUARANTINE and may_fit(l, a) then answered[#answered + 1] = l.party end
      end
    end
    i = i + 1
    l = lease(i)
  end
  if not found then return nil end
  if asks[1].unsaid then return nil, 'ambiguous', found end
  -- Two open asks are closer than a quarantine where the first one's answer was taken back.
  local close, _, ok = quarantined(found), open_ask(found, asks)
  if ok and (displaced or close) then return nil, 'ambiguous', displaced and found end
  return found, asks
end

-- awaited is when a party asked last, where an ask of a turn before that one is open still and this code, which answers `ask`, may have been the answer to it: nobody
-- can tell which of its asks the code is for that is still to come. Where one is to come already, it goes on until no such ask is open, whatever codes come. 0: it is not so.
local function awaited(mine, ask)
  local left = mine.party == S.open_session and S.open_at or S.open_other
  local going_on = S.awaits == mine.party and FROM < S.awaited + QUARANTINE
  if ask and not going_on and FROM >= left + QUARANTINE then return 0 end
  local last, open, later = going_on and S.awaited or 0, false, going_on
  local function look(l)
    if l.party ~= mine.party then return end
    local asked = false
    for _, a in ipairs(l.asks) do
      local answered = a.answered ~= '' or (ask and l.fence == mine.fence and a.n == ask.n)
      local may = may_fit(l, a)
      if may and a.at < TO then last, asked = math.max(last, a.at), true end
      open = open or later and not answered and (going_on or may and FROM < a.at + QUARANTINE)
    end
    later = later or asked
  end
  local now = current()
  if now then look(now) end
  for l in past(nil, 8) do
    if l.ended < FROM - OPEN_FOR then break end
    look(l)
  end
  return open and last or 0
end

-- asked_outside: a part of the window lies before or after the lease, and there it would be another's by rule 2.
local function asked_outside(plain)
  local from, to = FROM, TO
  local function others(part_from, part_to)
    if part_from >= part_to then return false end
    FROM, TO = part_from, part_to
    local l, list = asker()
    local theirs = list == 'ambiguous' or (l and l.fence ~= plain.fence and select(2, open_ask(l, list)))
    FROM, TO = from, to
    return theirs
  end
  return others(from, math.min(to, plain.granted)) or (not plain.current and plain.codes > 0 and others(math.max(from, plain.ended), to))
end

-- asks_lost: asks may have been lost, or their times say nothing, and one of them may have caused this.
local function asks_lost() return S.lost > 0 and FROM < S.lost + QUARANTINE end

-- second_code says whether a party that asked in two turns waits for its second code still, which may be this.
local function second_code() return S.awaited > 0 and S.awaited < TO and FROM < S.awaited + QUARANTINE end

-- behind finds the asking lease of another party that may have caused this instead of `mine`, which is over, where the carrier's clock is behind: it asked
-- shortly after the message claims to have been sent. Asks are a quarantine apart, so this is not so where the last open ask of `mine` is not that old yet.
-- Of a lease that is over an ask counts that was answered, too: its code may have been another's.
-- The number is free at once after a lease that is not asking and has its code, so this may be so of any message in its time.
local function behind(mine)
  if mine.current then return nil end
  local last
  for _, a in ipairs(mine.asks) do
    if a.answered == '' and a.at < TO then last = a.at end
  end
  if last and TO - 1 - last <= QUARANTINE - BEHIND then return nil end
  local function asked(l)
    for _, a in ipairs(l.party ~= mine.party and l.asks or {}) do
      if (a.answered == '' or not l.current) and a.at >= TO and a.at < TO + BEHIND then return true end
    end
  end
  local now = current()
  if now and asked(now) then return now end
  for l in past(TO + BEHIND, 8) do
    if l.ended < TO then return nil end
    if asked(l) then return l end
  end
end

-- judge says whose it is by its time and the asks: lease and the ask that a code answers; or nil, the reason, and where the carrier's clock may be the cause of it the
-- lease that it may belong to.
local function judge()
  if A.foreign then return nil, 'not_expected' end
  if TOO_OLD then return nil, 'no_lease' end
  local leases_touched, plain = touched()
  if plain then
    if leases_touched > 1 or quarantined(plain) or second_code() or asks_lost() or asked_outside(plain) then return nil, 'ambiguous' end
    local other = behind(plain)
    if other then return nil, 'ambiguous', other end
    return plain, nil
  end
  local l, list, over = asker()
  if list == 'ambiguous' then return nil, list, over and behind(over) or nil end
  -- What was asked since the last writes that are left is not known: whoever asked before the loss need not have been the last.
  if l and (TO > S.lost_from and asks_lost() or TO > S.noted_from and list[#list].at <= S.noted) then return nil, 'ambiguous' end
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

-- asked_too says whether another party has an open ask that this may be the answer to.
local function asked_too(party)
  local i = 1
  local l = lease(i)
  while l and (l.current or l.ended >= FROM - OPEN_FOR) do
    if l.party ~= party then
      for _, a in ipairs(asked_before(l)) do
        if a.answered == '' and may_fit(l, a) then return true end
      end
    end
    i = i + 1
    l = lease(i)
  end
end

-- could_be says whether a lease's party could have caused the first message of the same text too, and has not rejected it.
local function could_be(party, first)
  for fence in first.rejected:gmatch('%d+') do
    local l = by_fence(tonumber(fence))
    if l and l.party == party then return false end
  end
  for _, candidate in ipairs(could(first.from, first.to)) do
    if candidate[1].party == party then return true end
  end
  return false
end

-- same finds the message that this one is, where it came before under another id. Where that one belongs to a lease: this belongs to it, or to a later one
-- of the same party that has an open ask, and whether it is bound anew; or nil where it may be another party's as well.
local function same()
  if A.foreign then return nil end
  local first = redis.call('GET', SAME)
  for _, key in ipairs(SAME_ELSEWHERE) do first = first or redis.call('GET', key) end
  local m = first and message(first)
  if not m then return nil end
  if m.state ~= 's' and m.state ~= 'w' then return m end
  local owner = by_fence(m.fence)
  if not owner then return nil end
  local i = 1
  local l = lease(i)
  while l and l.fence > m.fence do
    if l.party == owner.party and l.asking then
      local ask = open_ask(l, candidates(l))
      if ask then return m, l, ask, true end
    end
    i = i + 1
    l = lease(i)
  end
  local ask = open_ask(owner, candidates(owner))
  if not ask and asked_too(owner.party) then return m, nil, 'ambiguous' end
  return m, owner, ask, false
end

-- long is what came before of the long message that this is a part of; nil where there is none, or all of it had come: then its ref is used again.
local function long()
  if A.part == 0 or A.foreign then return nil end
  local known = redis.call('GET', PARTS)
  if not known then return nil end
  local digest, answered, numbers, code_at = known:match('^([^|]*)|(%d)|([^|]*)|?(%d*)$')
  local _, came = numbers:gsub('%d+', '')
  local first, again = message(digest), numbers:find(',' .. int(A.part) .. ',', 1, true) ~= nil
  if not first or (again and came >= A.parts) then return nil end
  return { first = first, answered = answered == '1', numbers = numbers, code_at = tonumber(code_at), again = again, twice = numbers:find('*', 1, true) ~= nil }
end

-- asked_since says whether another party asked after a moment, whether its code has come or not.
local function asked_since(party, at)
  local function asked(l)
    for _, a in ipairs(l.party ~= party and l.asks or {}) do
      if a.at > at then return true end
    end
  end
  local now = current()
  if now and asked(now) then return true end
  for l in past(nil, 8) do
    if l.ended < at then return false end
    if asked(l) then return true end
  end
end

-- part says whose it is where another part of its message came before: whose that is. Where two messages may have the same ref, it has to be so by its own time too.
local function part(whole)
  local first = whole.first
  local l = (first.state == 's' or first.state == 'w') and by_fence(first.fence) or nil
  if not l then
    local _, _, other = judge()
    return nil, first.reason ~= '' and first.reason or 'ambiguous', other
  end
  if whole.twice then
    local own = judge()
    if not own or own.party ~= l.party then return nil, 'ambiguous' end
  end
  if A.code and whole.code_at and asked_since(l.party, whole.code_at) then return nil, 'ambiguous' end
  if whole.answered then return l end
  local asks = candidates(l)
  local ask = open_ask(l, asks)
  for _, a in ipairs(asks) do -- another part may have had the piece that its ask wants
    if not ask and a.answered == '' and not a.unsaid then ask = a end
  end
  return l, ask
end

-- unknown is the filters that Go has to be asked about first, nil for none, and the lease of the first of them.
local function unknown() return unasked, unasked_of end

return leases, touched, candidates, judge, same, long, part, awaited, asks_lost, could_be, unknown, BEHIND
