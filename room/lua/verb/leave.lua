-- leave: the holder is done or gives up, or a waiter leaves the line.
--
-- args:
--   session
--   outcome  how a holder's place ends: completed or cancelled; a waiter's is always cancelled
--   ticket   of the place that is meant, 0 = whichever the session has
--   fence    of the lease that is meant, 0 = whichever the session has; a waiter has none
-- Codes:
--   ok
--   no_place     the session has no live place, or one with another ticket
--   stale_fence  the session does not hold that lease
-- The reply has `already` if a message with the code completed the lease with that fence in the last
-- ten minutes. Publishes the end of the place, and the handoff.

local ALREADY_FOR = 10 * 60 * 1000 -- how long a completed lease may be completed again (ms)

-- completed_by_message reports whether a message has completed the lease that the holder means to complete.
local function completed_by_message(mine)
  return mine and mine.by_message and args.outcome == 'completed' and mine.fence == args.fence
    and (args.ticket == 0 or mine.ticket == args.ticket) and NOW - mine.ended <= ALREADY_FOR
end

function verb.leave()
  local mine = places.get(args.session)
  if completed_by_message(mine) then return 'ok', args.session, '"already":true' end
  if not (mine and mine.live and (args.ticket == 0 or mine.ticket == args.ticket)) then
    return 'no_place', args.session
  end
  local holds = room.session == args.session
  if args.fence ~= 0 and not (holds and args.fence == room.fence) then
    return 'stale_fence', args.session
  end

  if holds then
    leases.finish(args.outcome, NOW)
    advance() -- hands the lock on
  else
    line.leave(args.session, 'cancelled')
  end
  return 'ok', args.session
end
