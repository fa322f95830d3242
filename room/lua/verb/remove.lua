-- remove: support takes a waiter out of the line.
-- Codes: ok, stale_ticket

function verb.remove()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  local session = line.by_ticket(args.ticket)
  if not session then return reply.refuse('stale_ticket') end
  support.record(args.action, args.ticket, nil, places.get(session).seller)
  line.leave(session, 'removed')
  return reply.answer('ok', '')
end
