-- uncontended.lua: join and leave where no other session is concerned and nothing is kept of the room but its highest fence: a lock that is free, and
-- one that no session waits for. They leave and answer what verb/join.lua and verb/leave.lua would, in a fraction of the time; where anything more is to
-- be considered they return nil, and have done nothing. The average hold goes with the room, so leave does not reckon it.

-- applies reports whether this call publishes and keeps nothing.
local function applies()
  return settings.ephemeral and settings.events == '' and settings.journal_max == 0 and settings.leases_kept == 0 and settings.ended_kept == 0
    and settings.claim_within == 0 and not caller.replays and caller.epoch == 0
end

local function is_free()
  for field, value in pairs(stored) do
    if value and field ~= 'format' and field ~= 'fence' then return false end
  end
  return (stored.format or '1') == '1' and redis.call('EXISTS', LOCK, QUEUE, PLACES, SELLERS, SEEN, AWAY, ENDED, HERE) == 0
end

function uncontended.join()
  if not applies() or reply.is_remembered() or args.seller ~= '' or args.ticket ~= 0 or not is_free() then return nil end
  local fence, expires = math.max(US, (stored.fence or 0) + 1), NOW + (args.own_lease > 0 and args.own_lease or settings.lease)
  local epoch, hold, till = int(US), string.format('%.3f', settings.lease), existence.kept_till(expires)
  redis.call('HSET', STATE, 'format', '1', 'epoch', epoch, 'lineage', '', 'version', '1', 'tickets', '1', 'paused', '0', 'looked', int(NOW), 'trust', '0',
    'session', args.session, 'seller', '', 'ticket', '1', 'fence', int(fence), 'granted', int(NOW), 'expires', int(expires), 'over', '0',
    'hold', hold, 'spread', '0.000', 'holds', '0', 'kept', int(NOW) .. '|' .. int(till))
  redis.call('HSET', PLACES, args.session, 'live|1||' .. int(NOW) .. '|' .. args.channel .. '|' .. (args.own_lease > 0 and int(args.own_lease) or '') ..
    (args.asks and '|1' or '|0'))
  existence.expire_keys(till, { PLACES })
  redis.call('SET', LOCK, leases.json(args.session, '', 1, fence, NOW, expires), 'PXAT', int(expires))
  return 'ok ' .. epoch .. ' 1 ' .. int(NOW) .. ' 0 ' .. hold .. ',0.000, 0 1 ' .. int(fence) .. ' ' .. int(NOW) .. ' ' .. int(expires) ..
    ' 0 0 0 locked 1 = - ' .. int(fence) .. ' - -'
end

-- holds reports whether the caller's session holds the lock, and nothing is due.
local function holds(there)
  local s = stored
  return s.session == args.session and there and s.fence and s.ticket and (args.fence == 0 or args.fence == s.fence + 0)
    and (args.ticket == 0 or args.ticket == s.ticket + 0) and s.format == '1' and s.seller == '' and s.paused == '0'
    and not (s.claim or s.doubt or s.above) and s.looked and s.expires and s.epoch and s.version
    and NOW >= s.looked + 0 and NOW < s.expires + 0 and redis.call('EXISTS', QUEUE) == 0
end

function uncontended.leave(there)
  if not applies() or not holds(there) then return nil end
  local repeated = reply.repeated()
  if repeated then return repeated end
  local s = stored
  redis.call('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  existence.keep_fence('1', s.fence)
  return reply.remember('ok ' .. s.epoch .. ' ' .. int(s.version + 1) .. ' ' .. int(NOW) .. ' 0 ' .. (s.hold or settings.lease) .. ',' .. (s.spread or 0) ..
    ',' .. (s.lineage or '') .. ' 0 - - - - - - - idle - - - - - -')
end
