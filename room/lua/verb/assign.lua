-- assign: support gives a message that belongs to no lease to one that could have caused it.
--
-- The ledger has the last word: see settle.
--
-- args:
--   fence              of the lease
--   digest, id         of the message; the id as JSON
--   completes          whether a code ends the lease
--   action, why        JSON members for the journal
-- Codes:
--   ok, register     see existence.register
--   no_message       no such message is known
--   stale_fence      no such lease is known
--   already_matched  it belongs to a lease; or a duplicate or another part of it does, of another party
--   not_possible     the lease cannot have caused it, or it was sent to another number
-- The reply has `match`; see wire.Match.
-- Publishes the lease's end and the handoff if the message ends the lease; otherwise that the messages of
--   the session and of the desk have changed.

-- find returns the message as far as it is known, and whether it belongs to a lease.
-- If the message's text is forgotten, its answer has what is still known.
local function find(first)
  local m = messages.get(args.digest)
  if m then return m, m.state == 's' or m.state == 'w' end
  local owned = first.result ~= 'unmatched'
  if first.owner then owned = first.owner ~= '0' end
  return { digest = args.digest, from = tonumber(first.from or 0), to = tonumber(first.to or 0),
    code = first.code == '1' and '1' or '', forgotten = true }, owned
end

-- give_answer makes the message the answer to the lease's earliest open ask that is not too long before it.
-- If there is none, it adds an ask as of when the message was sent. It does neither if another part of the
-- message has answered an ask. For a lease that does not ask, it counts one code more.
local function give_answer(lease, m)
  if m.code == '' or messages.part_answered(m) then return end
  if not lease.asking then
    lease.codes = lease.codes + 1
    return leases.write(lease)
  end
  local answered
  for _, a in ipairs(lease.asks) do
    if a.answered == '' and m.from - a.at <= OPEN_FOR then
      a.answered, answered = args.digest, true
      break
    end
  end
  if not answered then
    asks.add(lease, max(min(m.from, NOW, lease.ended), lease.granted), args.digest, '')
  end
  leases.write(lease)
end

-- bind writes that the message belongs to the lease. It is shown once the ledger has agreed.
local function bind(lease, m)
  messages.set_owner(messages.key('sms', args.digest), lease.fence, 'a')
  if m.forgotten then return end
  local entry, offered = messages.entry(m), m.state == 'o' and m.session or ''
  m.session, m.fence, m.ticket, m.state, m.reason = lease.session, lease.fence, lease.ticket, 'w', ''
  m.result = lease.current and 'matched' or 'late'
  messages.put(m, entry)
  messages.remember_text(m)
  messages.remember_code(m)
  messages.notify(offered) -- the session that it was offered to can claim it no more
end

local function journal_assigned(m, lease, result, ends, ended)
  support.record(args.action ~= '' and args.action .. ',"message_id":' .. args.id or '', lease)
  journal.record('assigned', { result = result, code = m.code ~= '', judge = true, completes = ends,
    ticket = lease.ticket, fence = lease.fence, seller = lease.seller, granted = lease.granted,
    ended = ended }, '"message_id":' .. args.id .. ',' .. args.why)
end

prepare.assign = 'itself'
function verb.assign()
  local first = {}
  first.result, first.owner, first.from, first.to, first.code =
    unpack(command('HMGET', messages.key('sms', args.digest), 'result', 'owner', 'from', 'to', 'code'))
  if not first.result and not messages.get(args.digest) then return 'no_message' end
  -- If the room is asleep, it has to wake, so that the ledger drains what this call journals.
  if existence.unlisted() then return existence.register() end
  existence.wake()
  advance()
  messages.expire()

  local m, owned = find(first)
  if owned then return 'already_matched' end
  local lease = leases.by_fence(args.fence)
  if not lease then return 'stale_fence' end
  local duplicate = not m.forgotten and not m.either and messages.duplicate_of(m)
  local owner = duplicate and leases.by_fence(duplicate.fence)
  if owner and owner.party ~= lease.party then return 'already_matched' end
  if m.reason == 'wrong_number' or not asks.caused(lease, m.from, m.to) then
    return 'not_possible'
  end

  give_answer(lease, m)
  bind(lease, m)
  if not m.forgotten then messages.withdraw(m, lease.party) end
  messages.notify_desk()
  local live = lease.current
  local ends = live and args.completes and m.code ~= '' and room.open == 0
  local result, ended = live and 'matched' or 'late', live and NOW or lease.ended
  journal_assigned(m, lease, result, ends, ended)
  if ends then messages.complete_lease(not m.forgotten) end
  return 'ok', nil, '"match":' .. wire.match({ result = result, ticket = lease.ticket,
    fence = lease.fence, epoch = room.epoch, granted = lease.granted, ended = ended, at = NOW, judge = true,
    completes = ends, forgotten = m.forgotten })
end
