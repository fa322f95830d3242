-- leave: the holder is done or gives up, or a waiter leaves the line.
--
-- args:
--   session
--   outcome  of a holder: completed or cancelled
--   ticket   of the place that is meant, 0 = whichever it has
--   fence    of the lease that is meant, 0 = whichever it has, or none
-- Codes:
--   ok
--   no_place     the session has no live place, or another one
--   stale_fence  the session does not hold that lease
-- Behind the standing: "already" where a message has completed that very lease in the last ten minutes.
-- Publishes the end of the place, and the handoff.

local ALREADY_FOR = 10 * 60 * 1000 -- (ms)

-- completed_by_message reports whether a message has completed the lease that the holder means to complete.
local function completed_by_message(mine)
  return mine and mine.by_message and args.outcome == 'completed' and mine.fence == int(args.fence)
    and (args.ticket == 0 or mine.ticket == args.ticket) and NOW - mine.at <= ALREADY_FOR
end

function verb.leave()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  local mine = places.get(args.session)
  if completed_by_message(mine) then return reply.answer('ok', args.session, ' already') end
  if not (mine and mine.live and (args.ticket == 0 or mine.ticket == args.ticket)) then
    return reply.refuse('no_place', args.session)
  end
  local holds = room.session == args.session
  if args.fence ~= 0 and not (holds and args.fence == room.fence) then
    return reply.refuse('stale_fence', args.session)
  end

  if holds then
    leases.finish(args.outcome, NOW)
    advance()
  else
    line.leave(args.session, 'cancelled')
  end
  return reply.answer('ok', args.session)
end
