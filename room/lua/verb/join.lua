-- join: 준비 완료. A free lock is granted at once, otherwise the session waits in line.
-- Codes: ok, no_place (the place with args.ticket is over), lock_held, room_paused, room_full, seller_has_place, register (the index entry is too old:
--   the caller registers the room again, and calls again)
-- A session that has a place gets that place: nothing changes, but that it counts as there (presence.confirm).

function verb.join()
  local repeated = reply.repeated()
  if repeated then return repeated end
  if existence.unlisted() then return existence.register() end

  existence.wake()
  advance()

  local mine = places.get(args.session)
  if args.ticket ~= 0 and not (mine and mine.live and mine.ticket == args.ticket) then return reply.refuse('no_place') end
  if mine and mine.live then
    if presence.confirm(args.session, mine) then return reply.answer('ok', args.session) end
    state.commit()
    return reply.make('ok', args.session)
  end
  local no = not args.may_wait and (room.paused and 'room_paused' or leases.held() and 'lock_held')
    or args.room_limit > 0 and (leases.held() or room.paused) and line.length() >= args.room_limit and 'room_full'
  if args.seller ~= '' then
    local elsewhere -- is the first reason to refuse; where there is no other, the seller's place is written at once
    if no then
      elsewhere = redis.call('HEXISTS', SELLERS, args.seller) == 1
    else
      elsewhere = redis.call('HSETNX', SELLERS, args.seller, args.session) == 0
    end
    if elsewhere then return reply.refuse('seller_has_place') end
  end
  if no then return reply.refuse(no) end

  room.tickets = room.tickets + 1
  local p = { live = true, ticket = room.tickets, seller = args.seller, at = NOW, channel = args.channel,
    lease = args.own_lease > 0 and args.own_lease or nil, asks = args.asks }
  places.put(args.session, places.live_text(p), p)
  if mine then redis.call('ZREM', ENDED, args.session) end
  local who = '"ticket":' .. int(p.ticket) .. ',"seller":"' .. args.seller .. '"'
  if settings.events ~= '' then
    event.add('joined', '{"session":"' .. args.session .. '",' .. who .. ',"rank":' .. int(p.ticket) .. '}')
  end
  journal.record('joined', who)
  change.any = true

  if leases.held() or room.paused then
    line.enqueue(args.session, int(p.ticket))
    room.joined_last = args.session
    if args.vouch > 0 then presence.connected_until(args.session, NOW + args.vouch) end
  else
    leases.grant(args.session, p, int(p.ticket))
    room.grant_channel = nil -- the reply says it
  end
  return reply.answer('ok', args.session)
end
