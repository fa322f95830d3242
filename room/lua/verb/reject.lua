-- reject: the session of a message's lease says that the message is not its own. It belongs to no lease from
-- then on, and the ask that it answered is open again as of its old time, also where the lease is over.
-- KEYS  OWN 1  the message's answer; see messages.lua
-- Codes: ok, no_message, stale_fence, too_many_rejects

function verb.reject()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()
  messages.expire()

  local m = messages.get(args.digest)
  if not (m and m.session == args.session and m.state == 's') then return reply.refuse('no_message', args.session) end
  if m.fence ~= args.fence then return reply.refuse('stale_fence', args.session) end
  local lease = leases.by_fence(m.fence)
  if lease and lease.rejects >= args.most then return reply.refuse('too_many_rejects', args.session) end

  if lease then
    lease.rejects = lease.rejects + 1
    asks.take_back(lease, m)
  end
  journal.record('rejected', '"message_id":%s,"ticket":%d,"fence":%d,"seller":"%s"', args.id, m.ticket, m.fence, lease and lease.seller or '')
  local entry = messages.entry(m)
  m.rejected = m.rejected .. (m.rejected ~= '' and ',' or '') .. int(args.fence)
  m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'rejected'
  messages.put(m, entry)
  messages.set_owner(OWN[1], 0)
  messages.notify(args.session)
  messages.notify_desk()
  return reply.answer('ok', args.session)
end
