-- matching.lua: which lease a message belongs to: the one that could have caused it, or none if two could.
--
-- docs/matching.md has the rules in words. A message was sent at some moment from sms.earliest up to but not
-- including sms.latest. `l` is a lease, as leases.current returns it, and `a` one of its asks. Rule 3
-- (quarantine) is in verb/expect.lua; rules 4 (the effect of a code) and 6 (from when until when a message
-- may have been sent) are in verb/match.lua. Go decides which messages fit an ask: see filter.go.

local NAMED = 25           -- so many characters of a sealed filter name it: the id of its key, and a nonce
local sms                  -- args.message, with earliest and latest
local found, unread        -- the candidates that were read, and how to read more; see candidate
local unknown, unknown_of  -- filters for which Go has to answer whether the message fits; the first's lease

-- behind_most returns by how much the carrier's clock may be behind
-- before a code may reach another session (ms).
local function behind_most() return floor(settings.quarantine / 6) end
matching.behind_most = behind_most

-- begin sets the message that the functions below judge.
function matching.begin(message)
  local read, reader = leases.past(message.latest, 8)
  sms, found, unknown, unknown_of = message, {}, nil, nil
  unread = { read = read, reader = reader }
  if leases.held() and room.granted < sms.latest then found[1] = leases.current() end
end

-- candidate returns the i-th latest of the leases that were granted
-- before the message was sent, nil for none.
local function candidate(i)
  while #found < i do
    local l = unread.read(unread.reader)
    if not l then return nil end
    found[#found + 1] = l
  end
  return found[i]
end
matching.candidate = candidate

local function next_candidate(since, i)
  local l = candidate(i + 1)
  if l and (l.current or l.ended >= since) then return i + 1, l end
end

-- candidates iterates over the candidates that have not ended before `since`, the latest first.
local function candidates(since) return next_candidate, since, 0 end

-- touched returns how many leases may have been live when the message was sent.
-- The second value is one of them that does not ask, nil for none (rule 1).
function matching.touched()
  local n, not_asking = 0, nil
  local l = candidate(1)
  while l and asks.was_live(l, sms.earliest, sms.latest) do
    n = n + 1
    not_asking = not_asking or (not l.asking and l)
    l = candidate(n + 1)
  end
  return n, not_asking
end

-- touches_other reports whether a lease of another party may have been live when the message was sent.
function matching.touches_other(party)
  local i, l = 1, candidate(1)
  while l and asks.was_live(l, sms.earliest, sms.latest) do
    if l.party ~= party then return true end
    i = i + 1
    l = candidate(i)
  end
  return false
end

-- fits reports whether the message fits an ask, whether it may, and whether its code answers the ask.
-- The first two differ if Go has not answered yet, and for a filter that another secret has sealed. The code
-- of a personal number answers only an ask that names the number.
local function fits(l, a)
  if a.filter == '' then return true, true, not sms.personal end
  local known = sms.fits[a.filter:sub(1, NAMED)]
  if known == nil then
    unknown, unknown_of = unknown or {}, unknown_of or l
    unknown[#unknown + 1] = a.filter
  end
  return known == 'yes' or known == 'shown', known ~= 'no', known == 'yes'
end

local function may_fit(l, a) return select(2, fits(l, a)) end

-- open_ask returns the earliest open ask that the message answers if it has a code, and whether it fits any
-- ask at all.
local function open_ask(l, list)
  local first, ok = nil, false
  for _, a in ipairs(list) do
    if not a.assumed then
      local fit, _, answers = fits(l, a)
      ok = ok or fit
      if answers and a.answered == '' and not first then first = a end
    end
  end
  return first, ok
end

-- quarantine_of returns when the quarantine of an ask that a lease made at `at` begins: when the lease ended.
local function quarantine_of(l, at) return l.current and at or l.ended end

-- code_taken_back reports whether another party's lease, which ended and does not ask, may still get a code.
-- It may if no code counts for it: none came, or its session rejected the message that had one.
local function code_taken_back(l, mine)
  return not l.asking and mine.asking and l.party ~= mine.party and l.codes == 0
    and l.ended < sms.latest
end

-- quarantined reports whether an earlier lease has an open ask that could explain this message.
-- If `mine` asks, an ask of its own party does not count, nor one that the message does not fit.
local function quarantined(mine)
  if sms.earliest >= room.open_at + settings.quarantine then return false end
  local yes = false -- no early return: each unknown filter is to be sent to Go with the same reply
  for _, l in candidates(sms.earliest - settings.quarantine + 1) do
    local earlier = l.fence < mine.fence
    if earlier and l.asking and not (mine.asking and l.party == mine.party) then
      for _, a in ipairs(l.asks) do
        local counts = a.answered == '' and a.at < sms.latest
        if counts and (not mine.asking or may_fit(l, a)) then yes = true end
      end
    elseif earlier and code_taken_back(l, mine) then
      yes = true
    end
  end
  return yes
end

-- lapses returns from when on a lease that is over has no right to messages any more: a quarantine after its
-- end, or after the end of a later turn of its party whose code is still to come.
local function lapses(l)
  local ended = l.party == room.second_code_party and max(l.ended, room.second_code_at) or l.ended
  return ended + settings.quarantine
end

-- is_recent reports whether an ask is not too long before the message. That of a lease that was long counts
-- as long as the lease has its right.
local function is_recent(l, a)
  return sms.earliest - a.at <= OPEN_FOR or not l.current and sms.earliest < lapses(l)
end

-- has_open reports whether a lease has an open ask that is not too long before the message.
local function has_open(l)
  for _, a in ipairs(l.asks) do
    if a.answered == '' and is_recent(l, a) then return true end
  end
  return false
end

-- asks_before lists a lease's asks that were made before the message was sent, and not too long before.
local function asks_before(l)
  local list = {}
  for _, a in ipairs(l.asks) do
    if a.at < sms.latest and is_recent(l, a) then list[#list + 1] = a end
  end
  return list
end

-- may_have_caused lists the asks of a lease that may have caused the message.
-- Those of an ended lease count while one of them is open. A lease that does not ask and got no code may have
-- asked at any time: one ask is assumed at its end.
local function may_have_caused(l)
  if l.asking then
    if l.current or has_open(l) then return asks_before(l) end
  elseif not l.current and l.codes == 0 and l.ended < sms.latest and sms.earliest - l.ended <= OPEN_FOR then
    return { { at = l.ended, assumed = true } }
  end
  return {}
end

-- note_answered adds the party of a lease that asked for such a message, has all its codes, and ended less
-- than a quarantine before the message.
local function note_answered(parties, l)
  if sms.earliest >= l.ended + settings.quarantine then return end
  for _, a in ipairs(asks_before(l)) do
    if may_fit(l, a) then parties[#parties + 1] = l.party end
  end
end

-- has_lapsed reports whether the message may have been sent when a lease had no right to it any more.
local function has_lapsed(l) return not l.current and sms.latest > lapses(l) end

-- asker returns the lease that asked last before the message was sent, and its asks (rule 2).
-- If that is not certain it returns nil, 'ambiguous', and the lease that asked last if that one is known.
--
-- It is not certain if an ended lease of another party has all its codes, but ended less than a quarantine
-- ago: one of those codes may have been the late one of the lease that asked last, and this message may be
-- the ended lease's own. If the lease that asked last has lapsed, it is then displaced, and does not get the
-- message.
local function asker()
  local mine, its_asks, first, answered, displaced = nil, nil, nil, {}, false
  for _, l in candidates(sms.earliest - OPEN_FOR) do
    local list = may_have_caused(l)
    if #list > 0 and mine then
      if list[1].at < first then return nil, 'ambiguous' end
    elseif #list > 0 then
      for _, party in ipairs(answered) do
        displaced = displaced or party ~= l.party and has_lapsed(l)
      end
      mine, its_asks, first = l, list, list[1].at
      if first <= sms.earliest then break end -- no other lease can have asked later
    elseif l.asking and not l.current then
      note_answered(answered, l)
    end
  end
  if not mine then return nil end
  if its_asks[1].assumed then return nil, 'ambiguous', mine end
  -- Two parties' open asks are closer than a quarantine only if an answer to the first was taken back.
  local close, _, ok = quarantined(mine), open_ask(mine, its_asks)
  if ok and (displaced or close) then return nil, 'ambiguous', displaced and mine end
  return mine, its_asks
end

-- note_turn takes the asks of one lease of a party into `turns`, from the latest lease to the earlier ones.
local function note_turn(turns, l)
  if l.party ~= turns.party then return end
  local asked = false
  for _, a in ipairs(l.asks) do
    local answered = a.answered ~= '' or (turns.ask and l.fence == turns.fence and a.n == turns.ask.n)
    local may = may_fit(l, a)
    local from = quarantine_of(l, a.at)
    if may and a.at < sms.latest then turns.last, asked = max(turns.last, from), true end
    turns.open = turns.open or turns.asked_later and not answered
      and (turns.recorded or may and sms.earliest < from + settings.quarantine)
  end
  turns.asked_later = turns.asked_later or asked
end

-- second_code_due returns from when on the quarantine of a party's last ask counts, if one more code is to
-- come for the party; 0 if none is.
-- One more is to come if the party's lease `mine` has this code as the answer to `ask`, while an ask of an
-- earlier turn of the party is still open and may have caused the code: which of the two asks the next code
-- answers is not known. Once recorded, a second code is due until no such ask is open, whatever codes come.
function matching.second_code_due(mine, ask)
  local left_open = mine.party == room.open_party and room.open_at or room.open_other
  local recorded = room.second_code_party == mine.party
    and sms.earliest < room.second_code_at + settings.quarantine
  if ask and not recorded and sms.earliest >= left_open + settings.quarantine then return 0 end
  local turns = { party = mine.party, fence = mine.fence, ask = ask, recorded = recorded, open = false,
    last = recorded and room.second_code_at or 0, asked_later = recorded }
  local live = leases.current()
  if live then note_turn(turns, live) end
  for l in leases.past(nil, 8) do
    if l.ended < sms.earliest - OPEN_FOR then break end
    note_turn(turns, l)
  end
  return turns.open and turns.last or 0
end

-- others_within reports whether the message would or might belong to another lease if it was sent within
-- [from, to).
local function others_within(lease, from, to)
  if from >= to then return false end
  local earliest, latest = sms.earliest, sms.latest
  sms.earliest, sms.latest = from, to
  local l, list = asker()
  local theirs = list == 'ambiguous' or (l and l.fence ~= lease.fence and select(2, open_ask(l, list)))
  sms.earliest, sms.latest = earliest, latest
  return theirs
end

-- others_outside reports whether the message may have been sent before or
-- after a lease, and would be another's then.
local function others_outside(lease)
  return others_within(lease, sms.earliest, min(sms.latest, lease.granted))
    or (not lease.current and lease.codes > 0
      and others_within(lease, max(sms.earliest, lease.ended), sms.latest))
end

-- asks_lost reports whether a missing ask, or one whose time is not certain, may have caused the message.
function matching.asks_lost()
  return memo.asks_missing_until > 0 and sms.earliest < memo.asks_missing_until + settings.quarantine
end

-- may_be_second_code reports whether the message may be the second code of the party that waits for one.
local function may_be_second_code()
  local at = room.second_code_at
  return at > 0 and at < sms.latest and sms.earliest < at + settings.quarantine
end

-- has_ask reports whether a lease asked within [from, to); without `to`, at any time from `from` on.
local function has_ask(l, from, to)
  for _, a in ipairs(l.asks) do
    if a.at >= from and (not to or a.at < to) then return true end
  end
  return false
end

-- other_asker returns the latest lease of another party that asked within [from, to), nil for none. An
-- answered ask counts, since its answer may have been another's code.
local function other_asker(party, from, to)
  local live = leases.current()
  if live and live.party ~= party and has_ask(live, from, to) then return live end
  for l in leases.past(to, 8) do
    if l.ended < from then return nil end
    if l.party ~= party and has_ask(l, from, to) then return l end
  end
end

-- behind returns the lease that may have caused the message instead of `mine` if the carrier's clock is
-- behind. It is of another party, and asked shortly after the message seems to have been sent. There is no
-- such lease while `mine` is live. If `mine` does not ask, another party may ask right after it, so any
-- message in its time may be the next lease's.
local function behind(mine)
  if mine.current then return nil end
  return other_asker(mine.party, sms.latest, sms.latest + behind_most())
end

-- other_was_live reports whether another party's lease may have been live when `mine` had lapsed and the
-- message was sent.
local function other_was_live(mine)
  local from = max(sms.earliest, lapses(mine))
  for _, l in candidates(from) do
    if l.party ~= mine.party and asks.was_live(l, from, sms.latest) then return true end
  end
  return false
end

-- judge_not_asking does what judge does, for a message that may have been sent during a lease that does not
-- ask.
local function judge_not_asking(lease, leases_touched)
  if leases_touched > 1 or quarantined(lease) or may_be_second_code() or matching.asks_lost()
    or others_outside(lease) then
    return nil, 'ambiguous'
  end
  local other = behind(lease)
  if other then return nil, 'ambiguous', other end
  return lease, nil
end

-- judge returns the lease that the message belongs to by its time, and the ask that a code answers.
-- Otherwise it returns nil, the reason, the lease that the message may belong to if the carrier's clock is
-- wrong, nil for none, and whether the holder may be offered it although it is ambiguous ('lapsed'), or
-- although the holder has an open ask ('refused': that ask's filter alone refuses it).
function matching.judge()
  if sms.foreign then return nil, 'not_expected' end
  if sms.too_old then return nil, 'no_lease' end
  local leases_touched, not_asking = matching.touched()
  if not_asking then return judge_not_asking(not_asking, leases_touched) end

  local l, list, displaced = asker()
  if list == 'ambiguous' then
    local lapsed = displaced and has_lapsed(displaced) and other_was_live(displaced)
    return nil, list, displaced and behind(displaced) or nil, lapsed and 'lapsed'
  end
  if l then
    -- After a loss of data, a lease that asked before it need not have been the last one to ask.
    if sms.latest > memo.asks_missing_from and matching.asks_lost()
      or sms.latest > room.lost_from and list[#list].at <= room.lost_at then
      return nil, 'ambiguous'
    end
    local ask, ok = open_ask(l, list)
    if ok then
      local other = behind(l)
      if other then return nil, 'ambiguous', other end
      if has_lapsed(l) and other_was_live(l) then return nil, 'ambiguous', nil, 'lapsed' end
      return l, ask
    end
  end
  return nil, leases_touched > 0 and 'not_expected' or 'no_lease', nil, l and l.current and 'refused'
end

-- other_may_have_asked reports whether another party has an open ask that the message may answer.
local function other_may_have_asked(party)
  for _, l in candidates(sms.earliest - OPEN_FOR) do
    if l.party ~= party then
      for _, a in ipairs(asks_before(l)) do
        if a.answered == '' and may_fit(l, a) then return true end
      end
    end
  end
end

-- could_be reports whether a party could also have caused the first message of this text, and has not
-- rejected it. With `clock_behind`, a party counts too that could have only if the carrier's clock was
-- behind. Then only a claim by the session, or support, may give the message to a lease.
function matching.could_be(party, first, clock_behind)
  for fence in first.rejected:gmatch('%d+') do
    local l = leases.by_fence(tonumber(fence))
    if l and l.party == party then return false end
  end
  for _, cause in ipairs(asks.causes(first.from, clock_behind and first.to or first.to - first.later)) do
    if cause[1].party == party then return true end
  end
  return false
end

-- first_of_text returns the first message of the same sender and text of the last minutes, nil for none.
local function first_of_text()
  local digest = messages.pointed('same', sms.same)
  return digest and messages.get(digest)
end

-- code_of returns how another message with the same code concerns a party: see messages.code_of.
-- A code that the text has in a spelling in which none, or another one, is found in it counts as well.
function matching.code_of(party)
  local known, same = messages.code_of(sms.same_code, party, sms.same[1]), sms.same[1]
  for _, name in ipairs(sms.like_codes) do
    if known == 'anothers' then break end
    if messages.code_of({ name }, party, same) == 'anothers' then known = 'anothers' end
  end
  return known
end

-- duplicate returns the message that this one duplicates (rule 5), nil for none. If that one belongs to a
-- lease, it also returns the lease of this one, the ask that it answers, and whether this one is shown as a
-- message of its own. The lease is the same, or a later one of the same party with an open ask. If this one
-- may be another party's as well, it returns nil and 'ambiguous' instead of the lease and the ask.
function matching.duplicate()
  if sms.foreign then return nil end
  local m = first_of_text()
  if not m then return nil end
  if m.state ~= 's' and m.state ~= 'w' then return m end
  local owner = leases.by_fence(m.fence)
  if not owner then return nil end
  local i, l = 1, candidate(1)
  while l and l.fence > m.fence do
    if l.party == owner.party and l.asking then
      local ask = open_ask(l, may_have_caused(l))
      if ask then return m, l, ask, true end
    end
    i = i + 1
    l = candidate(i)
  end
  local ask = open_ask(owner, may_have_caused(owner))
  if not ask and other_may_have_asked(owner.party) then return m, nil, 'ambiguous' end
  return m, owner, ask, false
end

-- earlier_parts returns what is known of the long message that this one is a part of, nil for nothing.
-- Nothing is known if no other part came before, or if all had come and the reference is used again.
-- It is wire.Parts, with the part that came first as `message`, and `again` if this part came before.
function matching.earlier_parts()
  if sms.part == 0 or sms.foreign then return nil end
  local parts = messages.parts(sms.whole)
  local first = parts and messages.get(parts.first)
  if not first then return nil end
  for _, number in ipairs(parts.numbers) do parts.again = parts.again or number == sms.part end
  if parts.again and #parts.numbers >= sms.parts then return nil end
  parts.message = first
  return parts
end

-- judge_part returns the lease of the part that came first, and the ask that a code answers.
-- If another message may have the same reference, the lease has to be right by this part's own time too.
-- A code may be another party's that has asked since another part had one, or between the first part's
-- sending and this one's. If there is no lease, it returns the same values as judge.
function matching.judge_part(whole)
  local first = whole.message
  local l = (first.state == 's' or first.state == 'w') and leases.by_fence(first.fence) or nil
  if not l then
    local _, _, other = matching.judge()
    return nil, first.reason ~= '' and first.reason or 'ambiguous', other
  end
  if whole.reused then
    local own = matching.judge()
    if not own or own.party ~= l.party then return nil, 'ambiguous' end
  end
  if sms.code and (whole.code_at > 0 and other_asker(l.party, whole.code_at + 1)
    or other_asker(l.party, first.from + 1, sms.latest)) then
    return nil, 'ambiguous'
  end
  if whole.answered then return l end
  local list = may_have_caused(l)
  local ask = open_ask(l, list)
  for _, a in ipairs(list) do -- the words that the ask's filter wants may be in another part
    if not ask and a.answered == '' and not a.assumed and not sms.personal then ask = a end
  end
  return l, ask
end

-- unknown_filters returns the filters for which Go has to answer first whether the message fits, nil for
-- none. The second value is the lease of the first of them.
function matching.unknown_filters() return unknown, unknown_of end
