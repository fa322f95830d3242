-- join: a session asks for the lock, as by the page's button 준비 완료 ("ready").
--
-- A free lock is granted at once, unless the room is paused; otherwise the session waits in line. A
-- session that has a live place keeps it, whatever the other arguments are: the call only reports that the
-- session is there.
--
-- call.lua has the steps of a call, library.lua the values and modules that are used here.
--
-- args, in the order in which Go sends them:
--   session
--   own_lease           how long this lease is (ms), 0 = the room's lease
--   seller              '' = not known: then the seller may have a place under each of its sessions
--   may_wait            false = the session gets no new place if it would have to wait
--   channel             where a grant after a wait is published, besides the room's channel; '' = nowhere
--   vouch               a waiter counts as present for so long (ms) without a browser, 0 = it does not
--   asks                whether the lease asks for codes (see verb/expect.lua)
--   ticket              of the place that the caller knows of; 0 = the session may get a new place
--   room_limit          how many may wait, 0 = any number
--   address             digest of the client's address, kept while the place lives, or may be restored;
--                       '' = not known
--   closed              whether the room is outside its hours; support may have opened or closed it
-- The Go library alone sends own_lease, channel and vouch.
-- Codes:
--   ok
--   no_place                    the session has no live place with that ticket
--   seller_has_place            the seller has a live place with another session; the reply has its ticket
--   lock_held, room_paused      the session would have to wait, and may not
--   room_closed                 the room takes no new places now
--   room_full                   the limit of waiters is reached
-- Publishes the new place, and the lease where it is granted.

-- refusal returns why this call cannot give a new place to any session, nil if it can.
local function refusal()
  if support.closed(args.closed) then return 'room_closed' end
  local must_wait = leases.held() or room.paused
  if not args.may_wait and must_wait then return room.paused and 'room_paused' or 'lock_held' end
  if args.room_limit > 0 and must_wait and line.length() >= args.room_limit then return 'room_full' end
end

-- take_seller records that the seller's place is this session's, unless the call is refused anyway. It
-- returns false if the seller has a live place with another session.
local function take_seller(refused)
  if refused then return command('HEXISTS', SELLERS, args.seller) == 0 end
  return command('HSETNX', SELLERS, args.seller, args.session) == 1
end

-- seller_has_place refuses the call. The ticket in the reply is for the ledger: no client gets it.
local function seller_has_place()
  local p = places.get(command('HGET', SELLERS, args.seller))
  return 'seller_has_place', nil, p and '"other_ticket":' .. int(p.ticket)
end

prepare.join = 'begin'
function verb.join()
  local mine = places.get(args.session)
  if args.ticket ~= 0 and not (mine and mine.live and mine.ticket == args.ticket) then
    return 'no_place'
  end
  if mine and mine.live then
    if not presence.confirm(args.session, mine) then reply.keep_for(0) end -- nothing is new
    return 'ok', args.session
  end
  -- A seller who has a place learns that, and not that the room is full.
  local refused = refusal()
  if args.seller ~= '' and not take_seller(refused) then return seller_has_place() end
  if refused then return refused end

  local p = places.begin({ session = args.session, seller = args.seller, channel = args.channel,
    lease = args.own_lease, asking = args.asks, address = args.address })
  if leases.held() or room.paused then
    line.enqueue(args.session, p.rank)
    if args.vouch > 0 then presence.connected_until(args.session, NOW + args.vouch) end
  else
    leases.grant(args.session, p, p.rank)
  end
  return 'ok', args.session
end
