-- expect: the holder says that it now asks for a code; or, with a message, that it had asked and this is the answer.
-- KEYS  OWN 1  the message's answer, where there is a message; see messages.lua
-- Codes: ok, no_place, stale_fence, too_many_asks, no_message,
--   number_busy: another party's lease asked and its code may still come; until when is added to the reply. The first such answer puts the lease's end
--   off by what it has to wait.
-- Returns after the standing: asked open expires ticket fence, then of a message that was claimed: epoch granted ended, then what was asked where the
--   answer is remembered.

-- claim binds the message to the lease, as if it had asked before the message was sent: the earliest later ask counts as that.
local function claim(lease)
  local m = messages.get(args.digest)
  if not (m and m.state == 'o' and m.session == args.session and m.fence == room.fence) then return nil, 'no_message' end
  local same = messages.duplicate_of(m)
  local owner = same and leases.by_fence(same.fence)
  if owner and owner.party ~= lease.party then return nil, 'no_message' end
  -- An ambiguous one is offered where the carrier's clock may be wrong: see matching.judge.
  local theirs = m.reason ~= 'ambiguous' and asks.others_open_at(lease.party, OPEN_FOR)
  if theirs then return nil, 'number_busy', ' ' .. int(theirs + OPEN_FOR) end
  local answered = messages.part_answered(m)
  for _, a in ipairs(lease.asks) do
    if not answered and a.answered == '' and a.at >= m.from then
      a.answered, answered = args.digest, true
      break
    end
  end
  if not answered then asks.add(lease, math.max(math.min(m.from, NOW), room.granted), args.digest, args.filter) end
  local entry = messages.entry(m)
  m.state, m.result, m.reason, m.ticket = 'w', 'matched', '', room.ticket
  messages.put(m, entry)
  messages.remember_text(m)
  messages.set_owner(OWN[1], m.fence, 'c')
  messages.notify_desk()
  return m
end

-- details is what the reply has behind the standing.
local function details(lease, expires, m)
  local open = 0
  for _, a in ipairs(lease.asks) do if a.answered == '' then open = open + 1 end end
  return string.format(' %d %d %d %d %d', #lease.asks, open, expires, lease.ticket, lease.fence) ..
    (m and string.format(' %d %d %d', room.epoch, lease.granted, NOW) or '') .. (args.body ~= '' and ' ' .. args.body or '')
end

-- claim_message is what expect does with a message.
local function claim_message(lease)
  local m, refused, more = claim(lease)
  if not m then return reply.refuse(refused, args.session, more) end
  leases.write(lease)
  local ends, expires = args.completes and room.open == 0, room.expires
  journal.record('claimed', '"message_id":%s,"result":"matched","code":true,"judge":true,"completes":%s,"ticket":%d,"fence":%d,"seller":"%s",' ..
    '"granted_at":%d,"ended_at":%d', args.id, tostring(ends), room.ticket, room.fence, room.seller, room.granted, NOW)
  change.any = true
  if ends then
    messages.announce_verdict(args.session)
    leases.finish('completed', NOW, true)
    advance()
  end
  return reply.answer('ok', args.session, details(lease, expires, m))
end

-- refuse_busy is the reply where another party's code may still come.
local function refuse_busy(free)
  if room.ask_after ~= free then room.ask_after, change.any, change.codes = free, true, true end
  local expires = math.min(room.expires + math.min(free - NOW, settings.quarantine), room.granted + LONGEST)
  if not room.end_extended then
    room.end_extended, change.codes = true, true
    if expires > room.expires then
      room.expires, change.any, change.lease = expires, true, true
      journal.record('extended', '"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', room.ticket, room.seller, room.fence, expires)
    end
  end
  return reply.refuse('number_busy', args.session, ' ' .. int(free))
end

function verb.expect()
  reply.keep_for(LONGEST) -- as long as a lease: a repeat is the same ask
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  local mine = places.get(args.session)
  if not (mine and mine.live) then return reply.refuse('no_place', args.session) end
  if room.session ~= args.session or room.fence ~= args.fence then return reply.refuse('stale_fence', args.session) end
  presence.claim_lease()

  local lease = leases.current()
  if args.digest ~= '' then return claim_message(lease) end
  if not lease.asking then room.asking, lease.asking, change.codes = true, true, true end
  if #lease.asks >= args.most then return reply.refuse('too_many_asks', args.session) end
  local free = asks.busy_until(lease.party)
  if free > 0 then return refuse_busy(free) end
  asks.add(lease, clock.of_room(), '', args.filter)
  leases.write(lease)
  journal.record('asked', '"ticket":%d,"seller":"%s","fence":%d,"asks":%d', room.ticket, room.seller, room.fence, room.asked)
  return reply.answer('ok', args.session, details(lease, room.expires))
end
