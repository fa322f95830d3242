-- restore: support puts a session back at the front of the line, after ending its place by mistake.
--
-- The session gets a new place with a new ticket: the place that ended stays ended. A free lock goes to the
-- session at once; a lease of another session goes on. If the session had a browser, and none is connected,
-- it counts as gone from now on.
--
-- args:
--   ticket              of the place that support ended
--   action              JSON members for the journal
-- Codes:
--   ok                also if the place was put back already, and its session waits or holds the lock; the
--                     reply has the place
--   stale_ticket      support ended no place with that ticket in the last minute, or its session has joined
--                     again, or its seller was erased
--   seller_has_place  the seller has joined again with another session
-- Publishes the new place, and the lease where it is granted.

local WITHIN = 60 * 1000 -- how long after its end a place can be restored (ms)

-- find returns the session of the place that support ended lately with a ticket, and the place; nil for none.
local function find(ticket)
  local from, since = 0, NOW - WITHIN
  while true do
    local sessions = command('ZREVRANGEBYSCORE', ENDED, '+inf', int(since), 'LIMIT', int(from), int(BATCH))
    if #sessions == 0 then return nil end
    for i, text in ipairs(command('HMGET', PLACES, unpack(sessions))) do
      local p = text and wire.read_stored_place(text)
      if p and p.ticket == ticket and p.undoable then
        return sessions[i], p
      end
    end
    from = from + BATCH
  end
end

-- restored returns the session that has the place which was put back already for the one with a ticket.
local function restored(ticket)
  local p = leases.held() and places.get(room.session)
  if p and p.restored == ticket then return room.session end
  return line.by_ticket(ticket, 'restored')
end

prepare.restore = 'begin'
function verb.restore()
  local session, was = find(args.ticket)
  if not session then
    session = restored(args.ticket)
    return session and 'ok' or 'stale_ticket', session
  end
  if was.seller ~= '' and command('HSETNX', SELLERS, was.seller, session) == 0 then
    return 'seller_has_place'
  end

  support.record(args.action, was)
  places.begin({ session = session, seller = was.seller, channel = was.channel, lease = was.lease,
    asking = was.asking, address = was.address, restored = was.ticket, rank = line.insert(session, 1) })
  if was.browser and not command('ZSCORE', HERE, session) then presence.connected_until(session, NOW) end
  support.notify(session, 'moved')
  advance()
  return 'ok', session
end
