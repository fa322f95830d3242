-- uncontended.lua: join and leave in a fraction of the time, if no other session is concerned.
--
-- join applies to a lock of the Go library that is free, leave to one that no session waits for. They write
-- and answer what verb/join.lua and verb/leave.lua would. If anything more is to be considered, they return
-- nil and have written nothing. The average time that leases are held is deleted with the room, so leave does
-- not update it.

-- applies reports whether the room has no events, no journal and no history to keep.
local function applies()
  return settings.ephemeral and settings.events == '' and settings.journal_max == 0
    and settings.leases_kept == 0 and settings.ended_kept == 0 and settings.claim_within == 0
    and not caller.replays and caller.epoch == 0
end

local function is_free()
  return room.epoch == 0 and redis.call('EXISTS', LOCK, QUEUE, PLACES, SELLERS, SEEN, AWAY, ENDED, HERE) == 0
end

-- join grants the free lock and returns the reply; nil if verb.join has to execute the call.
function uncontended.join()
  if not applies() or reply.is_remembered() or args.seller ~= '' or args.ticket ~= 0 or not is_free() then
    return nil
  end
  local p = { live = true, ticket = 1, seller = '', at = NOW, channel = args.channel,
    lease = args.own_lease > 0 and args.own_lease or nil, asks = args.asks }
  room.epoch, room.version, room.tickets, room.advanced_at, room.waiting = US, 1, 1, NOW, 0
  leases.grant(args.session, p, '1')
  existence.renew_expiry()
  state.write('room', 'lease')
  redis.call('HSET', PLACES, args.session, places.live_text(p))
  existence.set_expiry(true)
  local text = leases.json(args.session, '', 1, room.fence, NOW, room.expires)
  redis.call('SET', LOCK, text, 'PXAT', int(room.expires))
  memo.places[args.session] = p
  return reply.make('ok', args.session)
end

-- holds reports whether the caller's session holds the lock, and nothing is due in the room.
local function holds()
  return room.session == args.session and room.lock_exists and room.seller == ''
    and (args.fence == 0 or args.fence == room.fence) and (args.ticket == 0 or args.ticket == room.ticket)
    and not room.paused and not room.rank_until_claimed and room.recovers == 0 and room.highest_fence == 0
    and room.epoch > 0 and NOW >= room.advanced_at and NOW < room.expires and redis.call('EXISTS', QUEUE) == 0
end

-- leave ends the lease, deletes the room and returns the reply; nil if verb.leave has to execute the call.
function uncontended.leave()
  if not applies() or not holds() then return nil end
  local repeated = reply.repeated()
  if repeated then return repeated end
  room.version, room.session, room.waiting = room.version + 1, '', 0
  existence.delete()
  memo.places[args.session] = false
  return reply.remember(reply.make('ok', args.session))
end
