-- leave_alone.lua: leave.lua where the holder of a room that vanishes leaves and nobody waits. It leaves and answers what leave.lua would but for the average
-- hold, which goes with the room, and for a place that is lost while the rest is there: it does not look. Where anything more is to be considered, it does nothing.

if QUIETLY and state.session == SESSION and LOCK_THERE and state.fence and state.ticket and (FENCE == 0 or FENCE == state.fence + 0) and (TICKET == 0 or TICKET == state.ticket + 0)
  and TOLD_EPOCH == 0 and state.format == '1' and state.seller == '' and state.paused == '0' and not (state.claim or state.doubt or state.above)
  and state.looked and state.expires and state.epoch and state.version and NOW >= state.looked + 0 and NOW < state.expires + 0 and redis.call('EXISTS', QUEUE) == 0 then
  local told = REMEMBERED and redis.call('GET', ONCE)
  if told then
    redis.call('PEXPIRE', ONCE, int(ONCE_KEPT)) -- the reply to the repeat may be lost, too
    return told
  end
  redis.call('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  redis.call('HSET', STATE, 'format', '1', 'fence', state.fence)
  redis.call('PEXPIRE', STATE, int(FENCE_KEPT))
  local text = 'ok ' .. state.epoch .. ' ' .. int(state.version + 1) .. ' ' .. int(NOW) .. ' 0 ' .. (state.hold or LEASE) .. ',' .. (state.spread or 0) .. ',' .. (state.lineage or '') ..
    ' 0 - - - - - - - idle - - - - - -'
  if REMEMBERED then redis.call('SET', ONCE, text, 'PX', int(ONCE_KEPT)) end
  return text
end
