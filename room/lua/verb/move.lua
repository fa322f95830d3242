-- move: support moves a waiter to another position.
--
-- args:
--   ticket    of the waiter
--   position  from 1; past the end = the last one
--   action    JSON members for the journal
-- Codes: ok, stale_ticket (no waiter has it)
-- Publishes the waiter's new rank, or that every replica has to read the whole room.

function verb.move()
  local session = line.by_ticket(args.ticket)
  if not session then return 'stale_ticket' end

  local p = places.get(session)
  local from, was = command('ZSCORE', QUEUE, session), command('ZRANK', QUEUE, session) + 1
  local at = min(max(args.position, 1), line.length())
  support.record(args.action, { ticket = args.ticket, seller = p.seller, from_position = was,
    to_position = at })
  if was == at then return 'ok' end

  command('ZREM', QUEUE, session)
  p.session, p.rank, p.from = session, line.insert(session, at), from
  journal.record('moved', { ticket = args.ticket, seller = p.seller, position = at })
  event.add('moved', p)
  support.notify(session, 'moved')
  change.any = true
  return 'ok'
end
