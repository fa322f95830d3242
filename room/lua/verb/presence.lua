-- presence: which sessions have come to a replica and which have gone, said once.
-- Codes: ok

-- forget_calls deletes the numbers of replicas that no session is connected to.
local function forget_calls()
  for _, field in ipairs(redis.call('HKEYS', STATE)) do
    local replica = field:match('^calls:(%d+)$')
    if replica and #redis.call('ZRANGEBYSCORE', HERE, replica, replica, 'LIMIT', 0, 1) == 0 then redis.call('HDEL', STATE, field) end
  end
end

function verb.presence()
  -- "number|when (ms)" of the latest call: one that was given up may still arrive, and must not undo what was
  -- said after it.
  local calls = 'calls:' .. args.replica
  local latest = room.epoch > 0 and tonumber((redis.call('HGET', STATE, calls) or '0'):match('^%d+'))
  if latest and args.number >= latest then
    if latest == 0 then forget_calls() end
    redis.call('HSET', STATE, calls, int(args.number) .. '|' .. int(NOW))
    clock.follow_jump_back()
    local list = args.changes
    for i = args.came + 1, #list, 3 do -- first: some of them have come back
      presence.disconnect(list[i], list[i + 1], NOW - tonumber(list[i + 2]))
    end
    for i = 1, args.came do presence.connect(list[i], args.replica) end
  end
  advance()
  state.commit()
  return reply.make('ok', '')
end
