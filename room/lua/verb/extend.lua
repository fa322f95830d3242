-- extend: support gives the holder more time, or the holder itself takes it.
--
-- args:
--   fence    of the lease
--   more     how much (ms)
--   longest  how long the lease may be in all (ms)
--   action   JSON members for the journal; '' = support has not acted
--   session  whose lease alone may be meant; '' = any session's
-- Codes: ok, stale_fence (there is no such lease), lease_too_long
-- Publishes the lease, and to its session that it was extended.

function verb.extend()
  if not leases.held() or room.session == ORPHANED or room.fence ~= args.fence
    or (args.session ~= '' and room.session ~= args.session) then
    return 'stale_fence'
  end
  local expires = room.expires + args.more
  if expires - room.granted > args.longest then return 'lease_too_long' end
  room.expires, change.any, change.lease = expires, true, true
  support.record(args.action, room)
  leases.journal_extended()
  support.notify(room.session, 'extended')
  return 'ok'
end
