-- pause: support pauses the room, or ends that.
--
-- While a room is paused no waiter is granted the lock; the line keeps its order and the lease goes on.
--
-- args:
--   paused
--   action             JSON members for the journal
-- Codes: ok
-- Publishes whether the room is paused, and a grant if the pause ends. If the room is as wanted already, the
-- action is journalled and nothing is published.

prepare.pause = 'begin'
function verb.pause()
  support.record(args.action)
  if room.paused ~= args.paused then
    room.paused, change.any = args.paused, true
    advance()
  end
  return 'ok'
end
