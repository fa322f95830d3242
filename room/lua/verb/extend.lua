-- extend: support gives the holder more time, or the holder itself takes it.
-- Codes: ok, stale_fence, lease_too_long

function verb.extend()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  if not leases.held() or room.session == ORPHANED or room.fence ~= args.fence or (args.session ~= '' and room.session ~= args.session) then
    return reply.refuse('stale_fence')
  end
  local expires = room.expires + args.more
  if expires - room.granted > args.longest then return reply.refuse('lease_too_long') end
  room.expires, change.any, change.lease = expires, true, true
  support.record(args.action, room.ticket, room.fence, room.seller)
  journal.record('extended', string.format('"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', room.ticket, room.seller, room.fence, expires))
  support.notify(room.session, 'extended')
  return reply.answer('ok', '')
end
