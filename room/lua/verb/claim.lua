-- claim: a session reports that it is there.
--
-- The holder claims its lease, and a session whose turn passed unclaimed is back in line.
--
-- args:
--   session
--   ticket   of the place that is meant, 0 = whichever the session has
--   fence    of the lease that is meant, 0 = whichever the session has; a waiter has none
-- Codes:
--   ok
--   no_place     the session has no live place, or one with another ticket
--   stale_fence  the session does not hold that lease
-- Publishes the lease, or the place in line, if that has changed.

function verb.claim()
  local mine = places.get(args.session)
  if not (mine and mine.live) or (args.ticket ~= 0 and mine.ticket ~= args.ticket) then
    return 'no_place', args.session
  end
  if args.fence ~= 0 and not (room.session == args.session and room.fence == args.fence) then
    return 'stale_fence', args.session
  end
  presence.confirm(args.session, mine)
  return 'ok', args.session
end
