-- join: a session asks for the lock (준비 완료).
--
-- A free lock is granted at once, unless the room is paused; otherwise the session waits in line. A
-- session that has a place keeps it: nothing changes, but the session has reported that it is there.
--
-- args:
--   session
--   seller              '' = not known: then only the session is held to one place
--   ticket              of the place that the session means to have already; 0 = it may get a new one
--   may_wait            false = the session is refused where it would have to wait
--   room_limit          how many may wait, 0 = any number
--   own_lease           how long this lease is (ms), 0 = as the room's are
--   channel             where a grant after a wait is published, besides the room's channel; '' = nowhere
--   asks                whether the lease asks for codes (see verb/expect.lua)
--   vouch               how long the calling program vouches for a waiter's presence (ms), 0 = it does not
--   registered, begins  see existence.unlisted
-- Codes:
--   ok, register                see existence.register
--   no_place                    the session has no live place with that ticket
--   lock_held, room_paused      the session would have to wait, and may not
--   room_full                   the limit of waiters is reached
--   seller_has_place            the seller has a live place with another session; comes before the others
-- Publishes the new place, and the lease where it is granted.

-- refusal returns why no session can get a new place, nil if one can.
local function refusal()
  local must_wait = leases.held() or room.paused
  if not args.may_wait and must_wait then return room.paused and 'room_paused' or 'lock_held' end
  if args.room_limit > 0 and must_wait and line.length() >= args.room_limit then return 'room_full' end
end

-- take_seller makes the seller's place this session's, unless this session is refused anyway. It returns
-- false if the seller has a live place already, which is another session's: this one has none.
local function take_seller(refused)
  if refused then return redis.call('HEXISTS', SELLERS, args.seller) == 0 end
  return redis.call('HSETNX', SELLERS, args.seller, args.session) == 1
end

-- new_place writes and publishes a place for the session, and returns it.
local function new_place()
  room.tickets = room.tickets + 1
  local p = { live = true, ticket = room.tickets, seller = args.seller, at = NOW, channel = args.channel,
    lease = args.own_lease > 0 and args.own_lease or nil, asks = args.asks }
  places.put(args.session, places.live_text(p), p)
  local who = '"ticket":' .. int(p.ticket) .. ',"seller":"' .. args.seller .. '"'
  if settings.events ~= '' then
    event.add('joined', '{"session":"' .. args.session .. '",' .. who .. ',"rank":' .. int(p.ticket) .. '}')
  end
  journal.record('joined', who)
  change.any = true
  return p
end

function verb.join()
  local repeated = reply.repeated()
  if repeated then return repeated end
  if existence.unlisted() then return existence.register() end

  existence.wake()
  advance()

  local mine = places.get(args.session)
  if args.ticket ~= 0 and not (mine and mine.live and mine.ticket == args.ticket) then
    return reply.refuse('no_place')
  end
  if mine and mine.live then
    if presence.confirm(args.session, mine) then return reply.answer('ok', args.session) end
    state.commit() -- a repeat changes nothing either: its reply need not be kept
    return reply.make('ok', args.session)
  end
  local refused = refusal()
  if args.seller ~= '' and not take_seller(refused) then return reply.refuse('seller_has_place') end
  if refused then return reply.refuse(refused) end

  local p = new_place()
  if mine then redis.call('ZREM', ENDED, args.session) end
  if leases.held() or room.paused then
    line.enqueue(args.session, int(p.ticket))
    room.joined_last = args.session
    if args.vouch > 0 then presence.connected_until(args.session, NOW + args.vouch) end
  else
    leases.grant(args.session, p, int(p.ticket))
    room.grant_channel = nil -- the reply has the lease
  end
  return reply.answer('ok', args.session)
end
