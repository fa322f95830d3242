-- match.lua: an SMS arrives. It belongs to the one lease that could have caused it, or to none: never a guess.
-- KEYS  13 once: hash, what this message was told the first time
--       14 same: the first message of this sender and text in the last ten minutes, as its digest
--       15 parts: the first part of the same long message in the last minute, as "digest|1 = a part answered an ask|,part,part,"; with "*," behind it
--          a part came twice before all had come: another message may have the same ref
-- MESSAGE is JSON: digest, id (as JSON), from, to (when the carrier took it, ms; both 0 = it did not say), age (ms since it was read, with a fraction),
--          read (when it was first read, ms of Redis's clock; 0 = not known), first (the same, where it came before this; 0 = it did not), guard (ms), completes (a code ends the lease),
--          code (there is one), foreign (the room takes nothing from this sender), fingerprint, fits ({"fence.ask": yes, no, or sealed where that is not to be known}),
--          part (0 = it is whole), parts (of how many), same (what its sender and text are known by), sealed, members (JSON members for the journal; no secret)
-- Returns "register", see join.lua, or "asks fence.ask:filter …" where Go has to say first which asks it fits, or
--   "ok" result reason ticket fence epoch granted ended received(ms) duplicate judge completes, and the room's epoch version lineage
--   result  matched | late | unmatched;  reason  no_lease | ambiguous | not_expected | rejected for unmatched
-- The holder is not shown a match yet: settle.lua does that when the ledger has agreed. What is late is shown at once.
--
-- The rules (docs/matching.md has them in words):
--   window   when it was sent, by the room's clock
--   plain    rule 1: within the time of a lease that is not asking
--   asked    rule 2: the lease that asked last at or before it was sent
--   same     rule 5: the same sender and text is the same message; so are the parts of one
-- Rule 3 (quarantine) is expect.lua's; rule 4 (no code, no effect) is in attribute; rule 6 (what fits) is Go's.

local A = cjson.decode(MESSAGE)
local DIGEST, SAME, PARTS = A.digest, KEYS[15], KEYS[16]
local REMEMBERED_FOR = 25 * 60 * 60 * 1000  -- then the ledger knows the message
local LATE_AFTER = 24 * 60 * 60 * 1000
local PARTS_FOR = 60 * 1000
local ON_ITS_WAY = 3                        -- what is between a replica and us, and what it knows of our time, is no better than this (ms)
local AHEAD = 60 * 1000                     -- how far ahead of us a carrier's clock may be

local function answer_text(h)
  return table.concat({ 'ok', h.result, h.reason, h.ticket, h.fence, h.epoch, h.granted, h.ended, h.at, h.duplicate, h.judge, h.completes,
    int(S.epoch), int(S.version), S.lineage ~= '' and S.lineage or '-' }, ' ')
end

local function incident(kind, detail)
  record('incident', '"action":"%s","reason":"%s","message_id":%s', kind, detail, A.id)
  desk()
end

do
  local list, told = redis.call('HGETALL', ONCE), {}
  for i = 1, #list, 2 do told[list[i]] = list[i + 1] end
  if told.result then
    local key = A.fingerprint:match('^[^:]*')
    if told.fingerprint:match('^[^:]*') == key and told.fingerprint ~= A.fingerprint then
      incident('message_id_reused', 'a message came with the id of another; the first answer stays')
    end
    commit()
    return answer_text(told)
  end
end
if unlisted(REGISTERED, BEGINS) then return beginning().register() end
wake()
advance()
forget_messages()

---------------------------------------------------------------- when it was sent

local CLOCK = room_clock()

local function window()
  local from, to = A.from, A.to
  local unsaid = from == 0 and to == 0
  if unsaid or from > CLOCK + AHEAD then
    local age = A.age
    if A.read > 0 and NOW - age - A.read > ON_ITS_WAY then age = NOW - A.read end -- Redis let it wait
    from, to = CLOCK - math.ceil(age - (CLOCK == NOW and US / 1000 - NOW or 0)), CLOCK + 1
  else
    local read = CLOCK
    if A.first > 0 and CLOCK == NOW then read = math.min(CLOCK, A.first + ON_ITS_WAY) end -- what comes again was not sent after it was first read
    if from > read then -- it counts as then, and the carrier's clock is ahead by as much at the least; as far as it can be later, it may be
      from, to = read - (from - read), math.min(to, CLOCK + 1)
    end
  end
  return from - A.guard, to + A.guard, from < NOW - LATE_AFTER
end

local FROM, TO, TOO_OLD = window()

---------------------------------------------------------------- whose it is

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

local unknown, unknown_of -- asks of which Go has not said whether it fits, and whose the first of them is

-- fits says whether it fits an ask, and whether it may: nobody knows of a filter that was sealed with another secret.
local function fits(l, a)
  if a.filter == '' then return true, true end
  local known = A.fits[int(l.fence) .. '.' .. int(a.n)]
  if known == nil then
    unknown, unknown_of = unknown or {}, unknown_of or l
    unknown[#unknown + 1] = int(l.fence) .. '.' .. int(a.n) .. ':' .. a.filter
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

-- quarantined: a lease before this one asked, its code has not come, and may be what this is. Against a lease that asks, its own session's do not count, nor asks that it does not fit.
local function quarantined(mine)
  if FROM >= S.open_at + QUARANTINE then return false end
  local i, found = 1, false
  local l = lease(i)
  while l and (l.current or l.ended >= FROM - QUARANTINE) do
    if l.fence < mine.fence and l.asking and not (mine.asking and l.session == mine.session) then
      for _, a in ipairs(l.asks) do
        if a.answered == '' and a.at < TO and FROM < a.at + QUARANTINE and (not mine.asking or may_fit(l, a)) then found = true end
      end
    end
    i = i + 1
    l = lease(i)
  end
  return found
end

-- has_open says whether an ended lease has an ask that no code came for.
local function has_open(l)
  for _, a in ipairs(l.asks) do
    if a.answered == '' then return true end
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
-- who asked longer ago than that is not sure to be meant.
local function asker()
  local i, found, asks, first, answered, displaced = 1, nil, nil, nil, {}, false
  local l = lease(i)
  while l and (l.current or l.ended >= FROM - OPEN_FOR) do
    local list = candidates(l)
    if #list > 0 and found then
      if list[1].at < first then return nil, 'ambiguous' end
    elseif #list > 0 then
      for _, session in ipairs(answered) do
        displaced = displaced or session ~= l.session and TO - 1 - list[#list].at >= QUARANTINE
      end
      found, asks, first = l, list, list[1].at
      if first <= FROM then break end -- it asked before: nobody else can have asked later
    elseif l.asking and not l.current then
      for _, a in ipairs(asked_before(l)) do
        if FROM - a.at < QUARANTINE and may_fit(l, a) then answered[#answered + 1] = l.session end
      end
    end
    i = i + 1
    l = lease(i)
  end
  if not found then return nil end
  if asks[1].unsaid then return nil, 'ambiguous' end
  -- Two open asks are closer than a quarantine where the first one's answer was taken back.
  local close, _, ok = quarantined(found), open_ask(found, asks)
  if ok and (displaced or close) then return nil, 'ambiguous' end
  return found, asks
end

-- awaited is when a session asked last, where an ask of a turn before that one is open still and this code, which answers `ask`, may have been the answer to it: nobody
-- can tell which of its asks the code is for that is still to come. Where one is to come already, it goes on until no such ask is open, whatever codes come. 0: it is not so.
local function awaited(mine, ask)
  local left = mine.session == S.open_session and S.open_at or S.open_other
  local going_on = S.awaits == mine.session and FROM < S.awaited + QUARANTINE
  if ask and not going_on and FROM >= left + QUARANTINE then return 0 end
  local last, open, later = going_on and S.awaited or 0, false, going_on
  local function look(l)
    if l.session ~= mine.session then return end
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

-- judge says whose it is by its time and the asks: lease and the ask that a code answers, or nil and the reason.
local function judge()
  if A.foreign then return nil, 'not_expected' end
  if TOO_OLD then return nil, 'no_lease' end
  local leases_touched, plain = touched()
  if plain then
    if leases_touched > 1 or quarantined(plain) or asks_lost() or asked_outside(plain) then return nil, 'ambiguous' end
    return plain, nil
  end
  local l, list = asker()
  if list == 'ambiguous' then return nil, list end
  -- What was asked since the last writes that are left is not known: whoever asked before the loss need not have been the last.
  if l and (TO > S.lost_from and asks_lost() or TO > S.noted_from and list[#list].at <= S.noted) then return nil, 'ambiguous' end
  if l then
    local ask, ok = open_ask(l, list)
    if ok then return l, ask end
  end
  return nil, leases_touched > 0 and 'not_expected' or 'no_lease'
end

-- same says whose it is where it is a message that came before, under another id: that lease or a later one of the same session
-- that has an open ask; and whether it is bound anew.
local function same()
  if A.foreign then return nil end
  local first = redis.call('GET', SAME)
  local m = first and message(first)
  if not m or (m.state ~= 's' and m.state ~= 'w') then return nil end
  local i = 1
  local l = lease(i)
  while l and l.fence > m.fence do
    if l.session == m.session and l.asking then
      local ask = open_ask(l, candidates(l))
      if ask then return l, ask, true end
    end
    i = i + 1
    l = lease(i)
  end
  l = by_fence(m.fence)
  if l then return l, (open_ask(l, candidates(l))), false, m end
end

-- long is what came before of the long message that this is a part of; nil where there is none, or all of it had come: then its ref is used again.
local function long()
  if A.part == 0 or A.foreign then return nil end
  local known = redis.call('GET', PARTS)
  if not known then return nil end
  local digest, answered, numbers = known:match('^([^|]*)|(%d)|(.*)$')
  local _, came = numbers:gsub('%d+', '')
  local first, again = message(digest), numbers:find(',' .. int(A.part) .. ',', 1, true) ~= nil
  if not first or (again and came >= A.parts) then return nil end
  return { first = first, answered = answered == '1', numbers = numbers, again = again, twice = numbers:find('*', 1, true) ~= nil }
end

-- part says whose it is where another part of its message came before: whose that is. Where two messages may have the same ref, it has to be so by its own time too.
local function part(whole)
  local first = whole.first
  local l = (first.state == 's' or first.state == 'w') and by_fence(first.fence) or nil
  if not l then return nil, first.reason ~= '' and first.reason or 'ambiguous' end
  if whole.twice then
    local own = judge()
    if not own or own.session ~= l.session then return nil, 'ambiguous' end
  end
  return l, not whole.answered and open_ask(l, candidates(l)) or nil
end

---------------------------------------------------------------- what comes of it

local told = { result = 'unmatched', reason = '-', ticket = '-', fence = '-', epoch = int(S.epoch), granted = '-', ended = '-',
  at = int(NOW), duplicate = '0', judge = '0', completes = '0', fingerprint = A.fingerprint,
  from = int(FROM), to = int(TO), code = A.code and '1' or '0' } -- when it was sent, should support assign it; see inbox.lua

-- answer_ask has a code answer an ask, under the digest of the first message of its text; a lease that does not ask has its code then.
local function answer_ask(l, ask, bound, digest)
  if not A.code then return end
  if ask then
    ask.answered = digest
  elseif not l.asking and bound then
    l.codes = l.codes + 1
  else
    return
  end
  if l.current or l.text then write_lease(l) end
end

-- attribute binds it to a lease; bound says that it is shown to the lease's session, and so has to be agreed to.
local function attribute(l, ask, bound, digest)
  answer_ask(l, ask, bound, digest)
  local ends = l.current and A.completes and A.code and S.open == 0
  told.result = l.current and 'matched' or 'late'
  told.ticket, told.fence, told.granted, told.ended = int(l.ticket), int(l.fence), int(l.granted), int(l.current and NOW or l.ended)
  told.completes, told.judge = ends and '1' or '0', (l.current and (bound or ends)) and '1' or '0'
  return ends
end

local function journal(l)
  record('message', string.format('"result":"%s"%s,"code":%s,"duplicate":%s,"judge":%s,"completes":%s%s,%s', told.result,
    told.reason ~= '-' and ',"reason":"' .. told.reason .. '"' or '', tostring(A.code), tostring(told.duplicate == '1'),
    tostring(told.judge == '1'), tostring(told.completes == '1'),
    l and string.format(',"ticket":%d,"fence":%d,"seller":"%s","granted_at":%d,"ended_at":%s', l.ticket, l.fence, l.seller, l.granted,
      told.ended) or '', A.members))
end

-- keep_text keeps the sealed text for whom it is for, and for support. What is known by its text alone says nothing of other parts.
local function keep_text(l, state, by_text)
  local m = { digest = DIGEST, session = l and l.session or '', fence = l and l.fence or 0, ticket = l and l.ticket or 0, state = state,
    result = told.result, reason = told.reason, late = told.result == 'late', received = told.at, from = FROM, to = TO,
    code = A.code, same = A.same, sealed = A.sealed, whole = A.part > 0 and not by_text and PARTS:match('}:parts:(.*)$') or '' }
  write_message(m)
  if l and state ~= 'o' then first_of(m) end
  if state ~= 'w' then show(m.session) end
  desk() -- also a match: what is the same message and was nobody's can be no one else's now
end

-- offered is the live lease where it may say that this code is its own: it is asking, but had not asked when it was sent. Where asks may be lost, it may be another's.
local function offered()
  if asks_lost() then return nil end
  local l = leases[1]
  if not (told.reason == 'not_expected' and A.code and not A.foreign and l and l.current and l.asking and touched() == 1) then return nil end
  for _, a in ipairs(l.asks) do
    if a.answered == '' and a.at < TO then return nil end
  end
  return not asked_by_others(l.session, OPEN_FOR) and l or nil
end

local l, ask, ends
local bound = true
local whole = long()
local again, again_ask, anew, m = same()
if again then
  l, ask, bound, told.duplicate = again, again_ask, anew, '1'
else
  if whole and not whole.again then l, ask = part(whole) else l, ask = judge() end
  if not l then told.reason = ask end
end
local to_come = A.code and l and ask and awaited(l, ask)
if unknown then -- nothing was done but what time alone did
  if not to_come then awaited(unknown_of) end -- what that will want to know, in the same question
  commit()
  return 'asks ' .. table.concat(unknown, ' ')
end

local answers
if l then
  local had = l.codes
  if to_come then await(l.session, to_come) end -- first: from when a holder may ask is reckoned with it
  ends = attribute(l, ask, bound, bound and DIGEST or m.digest)
  if again and not anew then -- it was told before: with the first one's result
    told.result = m.result
  end
  answers = A.code and (ask ~= nil or l.codes ~= had)
end
if A.from > CLOCK + AHEAD then
  incident('carrier_clock', 'the carrier says that it took a message over a minute from now; its clock is not believed')
end
journal(l)
if bound then
  local to = l or offered()
  keep_text(to, l and (told.judge == '1' and 'w' or 's') or to and 'o' or 'n', again)
end
if A.part > 0 and again and not whole then -- long messages may begin alike
  redis.call('DEL', PARTS)
elseif A.part > 0 then
  local answered = answers or (whole and whole.answered)
  redis.call('SET', PARTS, (whole and whole.first.digest or DIGEST) .. '|' .. (answered and '1' or '0') .. '|' .. (whole and whole.numbers or ',') ..
    (whole and whole.again and '*' or int(A.part)) .. ',', 'PX', PARTS_FOR)
end
if ends then
  change.any = true
  ending().finish('completed', NOW)
  advance()
end
commit()
told.judged = told.judge -- it may be refused, now or after it was shown
local fields = {}
for name, value in pairs(told) do
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
redis.call('HSET', ONCE, unpack(fields))
redis.call('PEXPIRE', ONCE, REMEMBERED_FOR)
return answer_text(told)
