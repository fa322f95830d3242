-- expect: the holder announces that it asks for a code, or claims a message as the code that it asked for.
--
-- args:
--   session
--   fence      of the lease
--   filter     which messages the ask takes, sealed so that only Go can read it; '' = all
--   most       how many asks a lease may have; a claim may add one more
--   body       digest of the request, which the reply returns; '' = none
--   digest     keyed digest of the id of the message that is claimed; '' = none, the holder asks now
--   id         of that message, as JSON
--   completes  whether that message ends the lease if it answers the last open ask
-- Codes:
--   ok
--   no_place       the session has no live place
--   stale_fence    the session does not hold that lease
--   too_many_asks
--   no_message     there is no such message, or this session may not claim it
--   number_busy    another party (session and seller, see leases.lua) has an open ask until the reply's
--                  `ask_after`. The first time that the holder is refused to ask, its lease is extended by
--                  that wait, by at most the quarantine, and up to LONGEST in all
-- An ok has `asked`, see wire.Asked; for a claim also `match`, see wire.Match.
-- Publishes the lease; its end and the handoff if the message ends the lease.

-- answer_first makes the message the answer to the lease's first open ask from `from` on, and reports whether
-- there is one.
local function answer_first(lease, from)
  for _, a in ipairs(lease.asks) do
    if a.answered == '' and a.at >= from then
      a.answered = args.digest
      return true
    end
  end
  return false
end

-- answer_earlier makes the message the answer to the lease's first open ask that was made after the message
-- was sent (m.from), else to the first whose filter refused it. If there is none, it adds an answered ask of
-- that time. It does neither if another part of the same long SMS has answered an ask.
local function answer_earlier(lease, m)
  local answered = messages.part_answered(m) or answer_first(lease, m.from) or answer_first(lease, 0)
  if not answered then
    asks.add(lease, max(min(m.from, NOW), room.granted), args.digest, args.filter)
  end
end

-- claim binds the message to the lease and returns it; or nil, the code of a refusal, and what that adds to
-- the reply. The message must be offered to this lease (state 'o'). If another party has an open ask, only
-- an ambiguous message may be claimed: it was offered although another party had asked (see judge in
-- matching.lua).
local function claim(lease)
  local m = messages.get(args.digest)
  if not (m and m.state == 'o' and m.session == args.session and m.fence == room.fence) then
    return nil, 'no_message'
  end
  local duplicate = messages.duplicate_of(m)
  local owner = duplicate and leases.by_fence(duplicate.fence)
  if owner and owner.party ~= lease.party then return nil, 'no_message' end
  local known = messages.code_of({ m.code }, lease.party, m.same)
  if known == 'anothers' then return nil, 'no_message' end
  local others_at = m.reason ~= 'ambiguous' and asks.others_open_at(lease.party)
  if others_at then return nil, 'number_busy', others_at + OPEN_FOR end
  if not known then answer_earlier(lease, m) end -- else it is a copy, in other words, of one that did
  local entry = messages.entry(m)
  m.state, m.result, m.reason, m.ticket = 'w', 'matched', '', room.ticket
  messages.put(m, entry)
  messages.remember_text(m)
  messages.remember_code(m)
  messages.set_owner(messages.key('sms', args.digest), m.fence, 'c')
  messages.notify_desk()
  return m
end

-- details returns the JSON members of an ok.
local function details(lease, expires, m)
  local open = 0
  for _, a in ipairs(lease.asks) do if a.answered == '' then open = open + 1 end end
  local asked = '"asked":' .. wire.asked({ asked = #lease.asks, open = open, expires = expires,
    ticket = lease.ticket, fence = lease.fence, body = args.body })
  if not m then return asked end
  return asked .. ',"match":' .. wire.match({ result = 'matched', ticket = lease.ticket, fence = lease.fence,
    epoch = room.epoch, granted = lease.granted, ended = NOW, at = NOW, judge = true,
    completes = open == 0 and args.completes })
end

-- claim_message is expect for a claim of a message.
local function claim_message(lease)
  local m, refused, free = claim(lease)
  if not m then return refused, args.session, free and '"ask_after":' .. int(free) end
  leases.write(lease)
  local ends, expires = args.completes and room.open == 0, room.expires
  journal.record('claimed', { result = 'matched', code = true, judge = true, completes = ends,
    ticket = room.ticket, fence = room.fence, seller = room.seller, granted = room.granted, ended = NOW },
    '"message_id":' .. args.id)
  change.any = true
  if ends then messages.complete_lease(true) end
  return 'ok', args.session, details(lease, expires, m)
end

-- refuse_busy returns the refusal of a holder that may ask only from the time `free` on, since another
-- party's code may still come.
local function refuse_busy(free)
  if room.ask_after ~= free then room.ask_after, change.any, change.codes = free, true, true end
  local expires = min(room.expires + min(free - NOW, settings.quarantine), room.granted + LONGEST)
  if not room.end_extended then
    room.end_extended, change.codes = true, true
    if expires > room.expires then
      room.expires, change.any, change.lease = expires, true, true
      leases.journal_extended()
    end
  end
  return 'number_busy', args.session, '"ask_after":' .. int(free)
end

prepare.expect = 'itself'
function verb.expect()
  reply.keep_for(LONGEST) -- as long as a lease may last: a repeat is the same ask
  asks.note_lost_leases()
  advance()

  local mine = places.get(args.session)
  if not (mine and mine.live) then return 'no_place', args.session end
  if room.session ~= args.session or room.fence ~= args.fence then
    return 'stale_fence', args.session
  end
  presence.claim_lease()

  local lease = leases.current()
  if args.digest ~= '' then return claim_message(lease) end
  if not lease.asking then room.asking, lease.asking, change.codes = true, true, true end
  if #lease.asks >= args.most then return 'too_many_asks', args.session end
  local free = asks.busy_until(lease.party)
  if free > 0 then return refuse_busy(free) end
  asks.add(lease, clock.of_room(), '', args.filter)
  leases.write(lease)
  journal.record('asked', room)
  return 'ok', args.session, details(lease, room.expires)
end
