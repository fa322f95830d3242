-- expire: nothing is asked; the room is brought to now. Safe to call at any time by any process.
-- Codes: active (a session holds or waits), idle, asleep (idle, and its keys have an end)
-- Returns code view standing(-) next-look(ms) journal-length

-- next_look is when something is due next: a lease ends, a waiter becomes away or is dropped, a message is forgotten (ms).
local function next_look(pending, forget)
  -- A lease that is granted after this look is not over long before the next one.
  local look = NOW + math.min(pending > 0 and args.take_in or args.rest, settings.lease)
  if leases.held() then look = math.min(look, leases.deadline()) end
  if forget then look = math.min(look, forget) end
  if line.length() > 0 then
    local gone = redis.call('ZRANGE', SEEN, 0, 0, 'WITHSCORES')
    if gone[2] then look = math.min(look, math.max(tonumber(gone[2]) + settings.away_after + 1, room.presence_trusted_from)) end
    local away = redis.call('ZRANGE', AWAY, 0, 0, 'WITHSCORES')
    if away[2] then look = math.min(look, math.max(tonumber(away[2]) + settings.away_after + settings.drop_after + 1, room.presence_trusted_from)) end
  end
  return math.max(look, NOW)
end

function verb.expire()
  if room.epoch > 0 then clock.follow_jump_back() end
  local more = presence.expire_replicas(args.replicas)
  advance()
  local forget = messages.expire()
  state.commit()

  local code, pending = 'active', redis.call('XLEN', JOURNAL)
  if line.length() == 0 and not leases.held() then
    code = pending == 0 and not room.paused and not forget and 'asleep' or 'idle'
    if code == 'asleep' and room.epoch > 0 and room.idle_since == 0 and not settings.ephemeral then existence.sleep(args.retention) end
  end
  return reply.make(code, '') .. ' ' .. int(more and NOW or next_look(pending, forget)) .. ' ' .. pending
end
