-- remove: support takes a waiter out of the line.
--
-- args:
--   ticket  of the waiter
--   action  JSON members for the journal
-- Codes: ok, stale_ticket (no waiter has it)
-- Publishes the end of the place.

function verb.remove()
  local session = line.by_ticket(args.ticket)
  if not session then return 'stale_ticket' end
  support.record(args.action, { ticket = args.ticket, seller = places.get(session).seller })
  support.may_undo(session)
  line.leave(session, 'removed')
  return 'ok'
end
