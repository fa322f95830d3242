-- reject: a session reports that a message that it was shown is not its own.
--
-- The message belongs to no lease from then on. The ask that it answered is open again as of its old time,
-- even if the lease is over.
--
-- args:
--   session
--   fence       of the lease that the message belongs to
--   digest, id  of the message; the id as JSON
--   most        how many rejections a lease may have
-- Codes: ok, no_message, stale_fence (the message belongs to another lease), too_many_rejects
-- Publishes that the messages of the session and of the desk have changed.

function verb.reject()
  messages.expire()

  local m = messages.get(args.digest)
  if not (m and m.session == args.session and m.state == 's') then
    return 'no_message', args.session
  end
  if m.fence ~= args.fence then return 'stale_fence', args.session end
  local lease = leases.by_fence(m.fence)
  if lease and lease.rejects >= args.most then return 'too_many_rejects', args.session end

  if lease then
    lease.rejects = lease.rejects + 1
    asks.take_back(lease, m)
  end
  journal.record('rejected', { ticket = m.ticket, fence = m.fence, seller = lease and lease.seller },
    '"message_id":' .. args.id)
  local entry = messages.entry(m)
  m.rejected = m.rejected .. (m.rejected ~= '' and ',' or '') .. int(args.fence)
  m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'rejected'
  messages.put(m, entry)
  messages.set_owner(messages.key('sms', args.digest), 0)
  messages.notify(args.session)
  messages.notify_desk()
  return 'ok', args.session
end
