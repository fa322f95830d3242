-- match: an SMS arrives. The verb attributes it to the one lease that could have caused it, or to none.
--
-- If two leases could have caused it, it is ambiguous: see matching.lua and docs/matching.md. A match is
-- shown to the holder once the ledger has agreed, by settle. A late message is shown at once.
--
-- args:
--   message             the SMS:
--     digest, id    of the message; the id as JSON
--     from, to      when the carrier took it, within [from, to) (ms); both 0 = the carrier did not report it
--     age           time since the replica read it (ms, with a fraction)
--     read          when a replica first read it, 0 = not known
--     first         the same as read, if this is a repeat; 0 = it is none
--     guard         by how much from and to may be wrong (ms)
--     completes     whether a code ends the lease
--     code          whether the message has a code
--     foreign       whether the room takes no message from this sender, or astray
--     astray        whether it was sent to another number than the room's
--     personal      whether anybody may have written it: its code answers only an ask that names the sender
--     fingerprint   keyed digest of its sender, text and time, as "key:digest"
--     fits          whether it fits an ask, by the name of the ask's filter: yes, no, sealed = not readable,
--                   shown = it does, but its code does not answer the ask, since it is personal
--     part, parts   which part of a long message it is, and of how many; 0 = it is whole
--     whole         keyed digest that all parts of the long message have
--     same          keyed digests of its sender and text, under each secret; the first is this process's
--     stamped       the same of its sender, text and time; none if it has no time
--     same_code     the same of its code; none for a code of under five characters
--     like_codes    the same of all that a reader could take for a code of five characters or more
--     sealed        its text, sealed
--     members       JSON members for the journal; no secret
-- Further keys of the room, named by a digest (messages.key):
--   same   digest of the first message of this sender and text in the last ten minutes
--   stamped  digest of the message of this sender, text and time in the last day
--   code   digest of the last message with this code, in the last ten minutes, that belongs to a lease
--   parts  the parts of the same long message that came in the last minute; see wire.Parts
-- Codes:
--   ok        the reply has `match`; see wire.Match
--   register  see existence.register
--   asks      the caller calls again, with whether the message fits asks that have the reply's `filters`
-- Publishes the lease's end and the handoff if the message ends the lease; otherwise that the messages of
--   the session and of the desk have changed.

local REMEMBERED_FOR = 25 * 60 * 60 * 1000  -- after this the ledger alone knows the message (ms)
local LATE_AFTER = 24 * 60 * 60 * 1000      -- an older message belongs to no lease (ms)
local PARTS_FOR = 60 * 1000                 -- within this all parts of a long message come (ms)
local ON_ITS_WAY = 3                        -- so exact is what a replica knows of Redis's time (ms)
local AHEAD = 60 * 1000                     -- a carrier's clock that is further ahead is not used (ms)

local sms      -- args.message
local answer   -- the answer to the message, which a repeat gets too; see messages.lua
local kept_in  -- the key of that answer

-- reply_with returns the reply with an answer, whose members are texts.
local function reply_with(h)
  return 'ok', nil, '"match":' .. wire.match({ result = h.result, reason = h.reason,
    ticket = h.ticket + 0, fence = h.fence + 0, epoch = h.epoch + 0, granted = h.granted + 0,
    ended = h.ended + 0, at = h.at + 0, duplicate = h.duplicate == '1', judge = h.judge == '1',
    completes = h.completes == '1' })
end

-- incident journals an event that a person should look at.
local function incident(kind, detail)
  journal.record('incident', { action = kind, reason = detail }, '"message_id":' .. sms.id)
  messages.notify_desk()
end

-- answer_at returns the answer that a key has, nil for none.
local function answer_at(key)
  local list, known = command('HGETALL', key), {}
  for i = 1, #list, 2 do known[list[i]] = list[i + 1] end
  return known.result and known or nil
end

-- remembered returns the answer to this message if it has come before, nil otherwise.
-- Some phones number their messages from 1 again, so after a day the id may be another message's.
local function remembered()
  local known = answer_at(kept_in)
  if not known then return nil end
  local key = sms.fingerprint:match('^[^:]*')
  local another = known.fingerprint:match('^[^:]*') == key and known.fingerprint ~= sms.fingerprint
  if not another or NOW - known.at <= LATE_AFTER then
    if another then
      incident('message_id_reused', 'a message came with the id of another; the first answer stays')
    end
    return known
  end
  command('DEL', kept_in)
end

-- window_by_age returns within which times a message was sent if its carrier did not report that. The message
-- is older than the replica measured if the call had to wait for Redis.
local function window_by_age(now)
  local age = sms.age
  if sms.read > 0 and NOW - age - sms.read > ON_ITS_WAY then age = NOW - sms.read end
  return now - math.ceil(age - (now == NOW and US / 1000 - NOW or 0)), now + 1
end

-- window_by_carrier returns within which times a message was sent, by its carrier's clock.
-- A message was not sent after it was read. If the carrier's time is later than that by d, the carrier's
-- clock is ahead. The message then counts as sent at the earliest d before it was read, and at the latest at
-- the carrier's time or now, whichever is earlier.
local function window_by_carrier(now)
  local from, read = sms.from, now
  if sms.first > 0 and now == NOW then read = min(now, sms.first + ON_ITS_WAY) end
  if from <= read then return from, sms.to end
  return read - (from - read), min(sms.to, now + 1)
end

-- set_window sets within which times the message was sent, by the room's
-- clock, and whether that is too long ago.
local function set_window()
  local now = clock.of_room()
  local from, to
  if (sms.from == 0 and sms.to == 0) or sms.from > now + AHEAD then
    from, to = window_by_age(now)
  else
    from, to = window_by_carrier(now)
  end
  sms.earliest, sms.latest, sms.too_old = from - sms.guard, to + sms.guard, from < NOW - LATE_AFTER
end

-- counts reports whether the message has a code that answers the ask, or ends a lease without asks. One that
-- its session was sent before in other words (sms.known) does neither.
local function counts(ask) return sms.code and not sms.known and (ask ~= nil or not sms.personal) end

-- answer_ask makes the code the answer to an ask. For a lease that does not ask, it counts the code. `digest`
-- is that of the first message of this text. A text that is not shown again does not count as a further code.
local function answer_ask(l, ask, shown, digest)
  if not counts(ask) then return end
  if ask then
    ask.answered = digest
  elseif not l.asking and shown then
    l.codes = l.codes + 1
  else
    return
  end
  if l.current or l.text then leases.write(l) end
end

-- attribute gives the message to its lease; it returns whether it ends that lease, and whether its code
-- counts there. The ledger judges a match that is shown to the lease's session. A text that is not shown
-- again gets the result with which it was shown before.
local function attribute(d)
  local l, codes = d.lease, d.lease.codes
  answer_ask(l, d.ask, d.shown, d.shown and sms.digest or d.first.digest)
  local ends = l.current and sms.completes and counts(d.ask) and room.open == 0
  answer.result = not d.shown and d.first.result or l.current and 'matched' or 'late'
  answer.ticket, answer.fence, answer.granted = int(l.ticket), int(l.fence), int(l.granted)
  answer.ended = int(l.current and NOW or l.ended)
  answer.completes, answer.judge = ends and '1' or '0', (l.current and (d.shown or ends)) and '1' or '0'
  return ends, sms.code and (d.ask ~= nil or l.codes ~= codes)
end

local function journal_message(l, ask)
  journal.record('message', { result = answer.result, reason = answer.reason, code = counts(ask),
    duplicate = answer.duplicate == '1', judge = answer.judge == '1', completes = answer.completes == '1',
    ticket = l and l.ticket, fence = l and l.fence, seller = l and l.seller, granted = l and l.granted,
    ended = l and answer.ended + 0 }, sms.members)
end

-- explains reports whether a lease has an open ask that was made at or before the message was sent.
local function explains(l)
  for _, a in ipairs(l.asks) do
    if a.answered == '' and a.at < sms.latest then return true end
  end
  return false
end

-- offered_to returns the live lease if its session may claim this code, nil if no session may. A session may
-- if its lease asks, but had not asked when the message seems to have been sent, or its own filter alone
-- refused the message. No session may while asks may be missing, nor if the message may be another's: by an
-- open ask, a lease that ended without a code, its text or its code. `d` is what decide returned.
local function offered_to(d)
  local to = d.other or matching.candidate(1)
  if matching.asks_lost() or not counts() or sms.foreign then return nil end
  if not (to and to.current and to.asking) then return nil end
  if d.first and not matching.could_be(to.party, d.first, true) then return nil end
  if matching.code_of(to.party) then return nil end
  if d.other then return to end
  if answer.reason ~= 'not_expected' and d.offer ~= 'lapsed' then return nil end
  if matching.touches_other(to.party) then return nil end
  if d.offer ~= 'refused' and explains(to) then return nil end
  return not asks.may_be_anothers(to.party, sms.earliest) and to or nil
end

-- keep_text keeps the sealed text as a recent message, for support and for the session of its lease. Without
-- a lease, the text is for the session that may claim it. A duplicate is known by its text alone, and so
-- belongs to no long message.
local function keep_text(d)
  local first, duplicate, l = d.first, d.duplicate or d.either, d.lease or offered_to(d)
  local kept_as = d.lease and (answer.judge == '1' and 'w' or 's') or l and 'o' or 'n'
  local code = counts(d.ask) and (sms.same_code[1] or '1')
  local m = { digest = sms.digest, session = l and l.session or '', fence = l and l.fence or 0,
    ticket = l and l.ticket or 0, state = kept_as, result = answer.result, reason = answer.reason,
    received = NOW, from = sms.earliest, to = sms.latest, code = code or '', same = sms.same[1],
    sealed = sms.sealed, whole = not duplicate and sms.whole or '', either = d.either,
    rejected = first and first.rejected or '', later = sms.later or 0 }
  messages.put(m)
  if d.lease or not (first or sms.foreign) then messages.remember_text(m, sms.same) end
  if d.lease and code then messages.remember_code(m, sms.same_code) end
  if d.lease and first then messages.withdraw(m, l.party) end
  if kept_as ~= 'w' then messages.notify(m.session) end
  messages.notify_desk() -- also for a match: unclaimed duplicates can be no other lease's now
end

-- keep_parts records that this part of a long message came, and whether it answers an ask.
-- It records no part that is a duplicate, since long messages may begin alike.
local function keep_parts(whole, duplicate, answers)
  if sms.part == 0 or sms.astray then return end
  if duplicate and not whole then return command('DEL', messages.key('parts', sms.whole)) end
  local parts = whole or wire.new_parts({ first = sms.digest, numbers = {} })
  parts.answered = answers or parts.answered
  if parts.again then parts.reused = true else table.insert(parts.numbers, sms.part) end
  if parts.code_at == 0 and sms.code then parts.code_at = sms.earliest end
  messages.keep_parts(sms.whole, parts, PARTS_FOR)
end

-- unknown_filters returns the filters for which Go has to answer first whether the message fits, nil for
-- none. Nothing of the message is written before. Those that second_code_due needs are among them.
local function unknown_filters(second_code_due)
  local filters, of = matching.unknown_filters()
  if filters and not second_code_due then matching.second_code_due(of) end
  return filters
end

-- note_clock journals that the carrier's clock is wrong.
-- `other` is the lease that may have caused the message if that clock is behind. Support may then also give
-- the message to a lease that could have caused it if it was sent up to matching.behind_most() later.
local function note_clock(other)
  if sms.from > clock.of_room() + AHEAD then
    incident('carrier_clock',
      'the carrier says that it took a message over a minute from now; its clock is not believed')
  elseif other then
    incident('carrier_clock',
      'a message seems to be older than the ask that caused it; the clock of its carrier may be behind')
    sms.later = matching.behind_most()
    sms.latest = sms.latest + sms.later
    answer.to = int(sms.latest)
  end
end

-- remember keeps the answer under the message's id.
local function remember()
  answer.judged = answer.judge
  local fields = {}
  for name, value in pairs(answer) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  command('HSET', kept_in, unpack(fields))
  command('PEXPIRE', kept_in, REMEMBERED_FOR)
end

-- new_answer returns the answer to a message that belongs to no lease.
local function new_answer()
  return { result = 'unmatched', reason = '', ticket = '0', fence = '0', epoch = int(room.epoch),
    granted = '0', ended = '0', at = int(NOW), duplicate = '0', judge = '0', completes = '0',
    fingerprint = sms.fingerprint, from = int(sms.earliest), to = int(sms.latest),
    code = counts() and '1' or '0' }
end

-- is_copy reports whether the same message has come under another id: its sender, text and time are those of
-- one before. Then `answer` is the first one's answer, and the message is recorded as its duplicate.
local function is_copy()
  local digest = not sms.astray and messages.pointed('stamped', sms.stamped)
  local known = digest and answer_at(messages.key('sms', digest))
  if not known then return false end
  answer = new_answer()
  for _, name in ipairs({ 'result', 'reason', 'ticket', 'fence', 'epoch', 'granted', 'ended', 'from', 'to',
    'code' }) do
    answer[name] = known[name]
  end
  answer.duplicate = '1'
  journal_message(known.fence ~= '0' and leases.by_fence(tonumber(known.fence)) or nil)
  remember()
  return true
end

-- decide returns where the message belongs:
--   lease, ask  the lease, and the ask that its code answers; nil = none
--   reason      why there is no lease
--   other       the lease that it may belong to if the carrier's clock is wrong
--   first       the first message of the same text
--   duplicate   whether it belongs where `first` does
--   either      whether it may belong there, or to another party
--   shown       whether it is shown as a message of its own; otherwise `first` stays the one that is shown
--   offer       'lapsed' or 'refused' if the holder may be offered the message all the same; see judge
local function decide(whole)
  local first, lease, ask, shown_again = matching.duplicate()
  local duplicate, either, other, offer = lease ~= nil, ask == 'ambiguous', nil, nil
  if not (duplicate or either) then
    if whole and not whole.again then
      lease, ask, other = matching.judge_part(whole)
    else
      lease, ask, other, offer = matching.judge()
    end
    if lease and first and not matching.could_be(lease.party, first) then lease, ask = nil, 'ambiguous' end
    local known = lease and matching.code_of(lease.party)
    if known == 'anothers' then lease, ask, either = nil, 'ambiguous', true end
    if known == 'known' and lease.asking then ask, sms.known = nil, true end
  end
  return { lease = lease, ask = lease and ask or nil, reason = not lease and ask, other = other,
    first = first, duplicate = duplicate, either = either, offer = offer, shown = shown_again ~= false }
end

prepare.match = 'itself'
function verb.match()
  sms, kept_in = args.message, messages.key('sms', args.message.digest)
  local before = remembered()
  if before then return reply_with(before) end
  if existence.unlisted() then return existence.register() end
  existence.wake()
  asks.note_lost_leases()
  advance()
  messages.expire()
  set_window()
  if is_copy() then return reply_with(answer) end
  matching.begin(sms)

  answer = new_answer()
  local whole = matching.earlier_parts()
  local d = decide(whole)
  if d.duplicate then answer.duplicate = '1' end
  if d.reason then answer.reason = sms.astray and 'wrong_number' or d.reason end
  local second_code_due = sms.code and d.ask and matching.second_code_due(d.lease, d.ask)
  local filters = unknown_filters(second_code_due)
  if filters then return 'asks', nil, '"filters":["' .. concat(filters, '","') .. '"]' end

  local ends, answers
  if d.lease then
    -- Before attribute, which sets when the holder may ask, and takes a second code into account.
    if second_code_due then asks.set_second_code(d.lease.party, second_code_due) end
    ends, answers = attribute(d)
  end
  note_clock(d.other)
  journal_message(d.lease, d.ask)
  if d.shown then keep_text(d) end
  keep_parts(whole, d.duplicate or d.either, answers)
  if ends then messages.complete_lease(d.shown) end
  if d.ask and not d.shown and sms.code then -- settle opens this ask again if the ledger refuses
    answer.answers = int(d.ask.n) .. ' ' .. d.first.digest
  end
  remember()
  if not sms.astray then messages.point('stamped', sms.stamped, sms.digest, REMEMBERED_FOR) end
  return reply_with(answer)
end
