-- pause: while a room is paused no waiter is granted the lock; the line keeps its order and the lease goes
-- on.
-- Codes: ok, register. A repeat changes nothing, and is journalled.

function verb.pause()
  local repeated = reply.repeated()
  if repeated then return repeated end
  if existence.unlisted() then return existence.register() end
  existence.wake()
  advance()

  if room.paused ~= args.paused then
    room.paused, change.any = args.paused, true
    support.record(args.action)
    advance()
  else
    support.record(args.action)
  end
  return reply.answer('ok', '')
end
