-- release: support ends the lease as forced, and the first in line is granted the lock.
--
-- args:
--   fence   of the lease
--   action  JSON members for the journal
-- Codes: ok, stale_fence (there is no such lease)
-- Publishes the end of the place, and the handoff.

function verb.release()
  if not leases.held() or room.fence ~= args.fence then return 'stale_fence' end
  support.record(args.action, room)
  support.may_undo(room.session)
  leases.finish('forced', NOW)
  advance()
  return 'ok'
end
