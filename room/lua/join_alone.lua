-- join_alone.lua: join.lua where nobody holds or waits and nothing is kept of the room but its highest fence, as of a lock that is free. It leaves and answers
-- what join.lua would, in a fraction of the time. Where anything more is to be considered, it does nothing.

if QUIETLY and not REMEMBERED and SELLER == '' and TICKET == 0 and TOLD_EPOCH == 0
  and (#fields == 0 or #fields == 4 and state.format == '1' and state.fence)
  and redis.call('EXISTS', LOCK, QUEUE, PLACES, SELLERS, SEEN, AWAY, ENDED, HERE) == 0 then
  local fence, expires = math.max(US, (state.fence or 0) + 1), NOW + (OWN_LEASE > 0 and OWN_LEASE or LEASE)
  local epoch, hold = int(US), string.format('%.3f', LEASE)
  local till = expires + RENEWED
  redis.call('HSET', STATE, 'format', '1', 'epoch', epoch, 'lineage', '', 'version', '1', 'tickets', '1', 'paused', '0', 'looked', int(NOW), 'trust', '0',
    'session', SESSION, 'seller', '', 'ticket', '1', 'fence', int(fence), 'granted', int(NOW), 'expires', int(expires), 'over', '0',
    'hold', hold, 'spread', '0.000', 'holds', '0', 'kept', int(NOW) .. '|' .. int(till))
  redis.call('PEXPIRE', STATE, int(till - NOW + FENCE_KEPT))
  redis.call('HSET', PLACES, SESSION, 'live|1||' .. int(NOW) .. '|' .. CHANNEL .. '|' .. (OWN_LEASE > 0 and int(OWN_LEASE) or '') .. (ASKS and '|1' or '|0'))
  redis.call('PEXPIRE', PLACES, int(till - NOW + ABANDONED))
  redis.call('SET', LOCK, lock_json(SESSION, '', 1, fence, NOW, expires), 'PXAT', int(expires))
  return 'ok ' .. epoch .. ' 1 ' .. int(NOW) .. ' 0 ' .. hold .. ',0.000, 0 1 ' .. int(fence) .. ' ' .. int(NOW) .. ' ' .. int(expires) .. ' 0 0 0 locked 1 = - ' .. int(fence) .. ' - -'
end
