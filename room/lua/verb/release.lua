-- release: support ends the lease; the next in line has the lock.
-- Codes: ok, stale_fence

function verb.release()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  if not leases.held() or room.fence ~= args.fence then return reply.refuse('stale_fence') end
  support.record(args.action, room.ticket, room.fence, room.seller)
  leases.finish('forced', NOW)
  advance()
  return reply.answer('ok', '')
end
