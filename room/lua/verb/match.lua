-- match: an SMS arrives. It belongs to the one lease that could have caused it, or to none; where two could, it is ambiguous. See matching.lua.
-- KEYS  ONCE   hash: what was answered when this message came first
--       OWN 1  the first message of this sender and text in the last ten minutes, as its digest
--           2  the first part of the same long message in the last minute, as "digest|1 = a part answered an ask|,part,part,|ms"; with "*," behind the
--              parts a part came twice before all had come: another message may have the same ref
--           and from there on what 1 is called under other secrets, while one is replaced: a replica may have another one first
-- args.message: digest, id (as JSON), from, to (when the carrier took it, ms; both 0 = it did not say), age (ms since it was read, with a fraction),
--   read (when it was first read, ms of Redis's clock; 0 = not known), first (the same, where it came before this; 0 = it did not), guard (ms),
--   completes (a code ends the lease), code (there is one), foreign (the room takes nothing from this sender), fingerprint,
--   fits (by the name of an ask's filter: yes, no, or sealed where that cannot be known), part (0 = it is whole), parts (of how many),
--   same (keyed digest of its sender and text), sealed, members (JSON members for the journal; no secret)
-- Returns "register" (see join.lua), or "asks filter …" where Go has to say first which of them it fits, or
--   "ok" result reason ticket fence epoch granted ended received(ms) duplicate judge completes, and the room's epoch version lineage
--   result  matched | late | unmatched;  reason  no_lease | ambiguous | not_expected | rejected for unmatched
-- The holder is not shown a match yet: settle does that when the ledger has agreed. What is late is shown at once.

local REMEMBERED_FOR = 25 * 60 * 60 * 1000  -- afterwards the ledger knows the message
local LATE_AFTER = 24 * 60 * 60 * 1000
local PARTS_FOR = 60 * 1000
local ON_ITS_WAY = 3                        -- the way from a replica to Redis, and what it knows of Redis's time, is no more exact than this (ms)
local AHEAD = 60 * 1000                     -- how far ahead of Redis's a carrier's clock may be (ms)

local sms      -- args.message
local answer   -- what is answered, and kept under ONCE

local function answer_text(h)
  return table.concat({ 'ok', h.result, h.reason, h.ticket, h.fence, h.epoch, h.granted, h.ended, h.at, h.duplicate, h.judge, h.completes,
    int(room.epoch), int(room.version), room.lineage ~= '' and room.lineage or '-' }, ' ')
end

local function incident(kind, detail)
  journal.record('incident', '"action":"%s","reason":"%s","message_id":%s', kind, detail, sms.id)
  messages.notify_desk()
end

-- answered_before returns what was answered when the message came before, nil where it did not. Some phones count their messages from 1 again: after
-- a day the id may be another message's.
local function answered_before()
  local list, known = redis.call('HGETALL', ONCE), {}
  for i = 1, #list, 2 do known[list[i]] = list[i + 1] end
  if not known.result then return nil end
  local key = sms.fingerprint:match('^[^:]*')
  local another = known.fingerprint:match('^[^:]*') == key and known.fingerprint ~= sms.fingerprint
  if not another or NOW - known.at <= LATE_AFTER then
    if another then incident('message_id_reused', 'a message came with the id of another; the first answer stays') end
    state.commit()
    return answer_text(known)
  end
  redis.call('DEL', ONCE)
end

-- set_window sets when the message was sent, by the room's clock, and whether that is too long ago.
local function set_window()
  local from, to, at = sms.from, sms.to, clock.of_room()
  local unsaid = from == 0 and to == 0
  if unsaid or from > at + AHEAD then
    local age = sms.age
    if sms.read > 0 and NOW - age - sms.read > ON_ITS_WAY then age = NOW - sms.read end -- Redis let it wait
    from, to = at - math.ceil(age - (at == NOW and US / 1000 - NOW or 0)), at + 1
  else
    local read = at
    if sms.first > 0 and at == NOW then read = math.min(at, sms.first + ON_ITS_WAY) end -- what comes again was not sent after it was first read
    if from > read then -- it counts as then, and the carrier's clock is ahead by as much at the least; as far as it can be later, it may be
      from, to = read - (from - read), math.min(to, at + 1)
    end
  end
  sms.earliest, sms.latest, sms.too_old = from - sms.guard, to + sms.guard, from < NOW - LATE_AFTER
end

-- answer_ask has a code answer an ask, under the digest of the first message of its text; a lease that does not ask has its code then.
local function answer_ask(l, ask, shown, digest)
  if not sms.code then return end
  if ask then
    ask.answered = digest
  elseif not l.asking and shown then
    l.codes = l.codes + 1
  else
    return
  end
  if l.current or l.text then leases.write(l) end
end

-- attribute gives the message to a lease, and returns whether it ends that lease. Where it is shown to the lease's session, the ledger has to agree.
local function attribute(l, ask, shown, digest)
  answer_ask(l, ask, shown, digest)
  local ends = l.current and sms.completes and sms.code and room.open == 0
  answer.result = l.current and 'matched' or 'late'
  answer.ticket, answer.fence, answer.granted, answer.ended = int(l.ticket), int(l.fence), int(l.granted), int(l.current and NOW or l.ended)
  answer.completes, answer.judge = ends and '1' or '0', (l.current and (shown or ends)) and '1' or '0'
  return ends
end

local function journal_message(l)
  journal.record('message', string.format('"result":"%s"%s,"code":%s,"duplicate":%s,"judge":%s,"completes":%s%s,%s', answer.result,
    answer.reason ~= '-' and ',"reason":"' .. answer.reason .. '"' or '', tostring(sms.code), tostring(answer.duplicate == '1'),
    tostring(answer.judge == '1'), tostring(answer.completes == '1'),
    l and string.format(',"ticket":%d,"fence":%d,"seller":"%s","granted_at":%d,"ended_at":%s', l.ticket, l.fence, l.seller, l.granted,
      answer.ended) or '', sms.members))
end

-- offered_to returns the live lease where it may claim this code: it asks, but had not asked when the message says that it was sent. Where asks may
-- be lost, or the same text may be another's, no lease may. `other` is the lease that a carrier's wrong clock may have kept it from.
local function offered_to(other, first)
  local to = other or matching.candidate(1)
  if matching.asks_lost() or not (sms.code and to and to.current and to.asking) or sms.foreign then return nil end
  if first and not matching.could_be(to.party, first) then return nil end
  if other then return to end
  if answer.reason ~= 'not_expected' or matching.touched() ~= 1 then return nil end
  for _, a in ipairs(to.asks) do
    if a.answered == '' and a.at < sms.latest then return nil end
  end
  return not asks.others_open_at(to.party, OPEN_FOR) and to or nil
end

-- keep_text keeps the sealed text, for the session of a lease and for support. A duplicate is known by its text alone: it says nothing of other parts.
local function keep_text(l, how, duplicate, either, first)
  local m = { digest = sms.digest, session = l and l.session or '', fence = l and l.fence or 0, ticket = l and l.ticket or 0, state = how,
    result = answer.result, reason = answer.reason, late = answer.result == 'late', received = answer.at, from = sms.earliest, to = sms.latest,
    code = sms.code, same = sms.same, sealed = sms.sealed, whole = sms.part > 0 and not duplicate and OWN[2]:match('}:parts:(.*)$') or '',
    either = either, rejected = first and first.rejected or '' }
  messages.put(m)
  local mine = l and how ~= 'o'
  if mine or not (first or sms.foreign) then messages.remember_text(m, { unpack(OWN, 3) }) end
  if mine and first then messages.withdraw(m, l.party) end
  if how ~= 'w' then messages.notify(m.session) end
  messages.notify_desk() -- also for a match: an unclaimed duplicate can be no other lease's now
end

-- keep_parts notes that this part of a long message came. Of duplicates nothing is noted: long messages may begin alike.
local function keep_parts(whole, duplicate, answers)
  if sms.part == 0 then return end
  if duplicate and not whole then return redis.call('DEL', OWN[2]) end
  local answered, code_at = answers or (whole and whole.answered), whole and whole.code_at or sms.code and sms.earliest or nil
  redis.call('SET', OWN[2], (whole and whole.first.digest or sms.digest) .. '|' .. (answered and '1' or '0') .. '|' ..
    (whole and whole.numbers or ',') .. (whole and whole.again and '*' or int(sms.part)) .. ',|' .. (code_at and int(code_at) or ''), 'PX', PARTS_FOR)
end

-- unknown_filters is the reply that asks Go which filters the message fits, nil where that is known. Nothing is written then but what time alone did.
local function unknown_filters(to_come)
  local filters, of = matching.unknown()
  if not filters then return nil end
  if not to_come then matching.second_code_due(of) end -- what that needs to know is asked with the same reply
  state.commit()
  return 'asks ' .. table.concat(filters, ' ')
end

-- note_clock journals that the carrier's clock is wrong. `other` is the lease that may have caused the message where that clock is behind: then support
-- may give it to a lease that could have caused it by that.
local function note_clock(other)
  if sms.from > clock.of_room() + AHEAD then
    incident('carrier_clock', 'the carrier says that it took a message over a minute from now; its clock is not believed')
  elseif other then
    incident('carrier_clock', 'a message seems to be older than the ask that caused it; the clock of its carrier may be behind')
    sms.latest = sms.latest + matching.behind_most()
    answer.to = int(sms.latest)
  end
end

-- remember keeps the answer under the message's id. It may be refused, now or after it was shown.
local function remember()
  answer.judged = answer.judge
  local fields = {}
  for name, value in pairs(answer) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  redis.call('HSET', ONCE, unpack(fields))
  redis.call('PEXPIRE', ONCE, REMEMBERED_FOR)
end

function verb.match()
  sms = args.message
  local before = answered_before()
  if before then return before end
  if existence.unlisted() then return existence.register() end
  existence.wake()
  advance()
  messages.expire()
  set_window()
  matching.begin(sms)
  answer = { result = 'unmatched', reason = '-', ticket = '-', fence = '-', epoch = int(room.epoch), granted = '-', ended = '-',
    at = int(NOW), duplicate = '0', judge = '0', completes = '0', fingerprint = sms.fingerprint,
    from = int(sms.earliest), to = int(sms.latest), code = sms.code and '1' or '0' }

  local whole = matching.long()
  local first, l, ask, anew = matching.same()
  local repeats, either, other = l ~= nil, ask == 'ambiguous', nil
  if repeats then
    answer.duplicate = '1'
  elseif not either then
    if whole and not whole.again then l, ask, other = matching.part(whole) else l, ask, other = matching.judge() end
    if l and first and not matching.could_be(l.party, first) then l, ask = nil, 'ambiguous' end
  end
  local shown = anew ~= false -- else the first message of this text stays the one that is shown
  if not l then answer.reason = ask end

  local to_come = sms.code and l and ask and matching.second_code_due(l, ask)
  local filters = unknown_filters(to_come)
  if filters then return filters end

  local answers, ends
  if l then
    local had = l.codes
    if to_come then asks.set_second_code(l.party, to_come) end -- first: from when on a holder may ask is reckoned with it
    ends = attribute(l, ask, shown, shown and sms.digest or first.digest)
    if not shown then answer.result = first.result end -- the session was shown it with that result
    answers = sms.code and (ask ~= nil or l.codes ~= had)
  end
  note_clock(other)
  journal_message(l)
  if shown then
    local to = l or offered_to(other, first)
    keep_text(to, l and (answer.judge == '1' and 'w' or 's') or to and 'o' or 'n', repeats or either, either, first)
  end
  keep_parts(whole, repeats or either, answers)
  if ends then
    change.any = true
    if shown then messages.announce_verdict(room.session) end
    leases.finish('completed', NOW, true)
    advance()
  end
  state.commit()
  if ask and not shown and sms.code then answer.answers = int(ask.n) .. ' ' .. first.digest end -- settle opens its own ask again
  remember()
  return answer_text(answer)
end
