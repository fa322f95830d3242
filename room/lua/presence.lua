-- presence.lua: who has come to a replica and who has gone, told once.
-- Codes: ok

local CALLS = 'calls:' .. HOST -- "number|when (ms)" of the latest call, in STATE: one that was given up may still arrive, and is not to undo what was told after it

-- forget_calls drops the numbers of replicas that nobody is connected to.
local function forget_calls()
  for _, field in ipairs(redis.call('HKEYS', STATE)) do
    local host = field:match('^calls:(%d+)$')
    if host and #redis.call('ZRANGEBYSCORE', HERE, host, host, 'LIMIT', 0, 1) == 0 then redis.call('HDEL', STATE, field) end
  end
end

local latest = S.epoch > 0 and tonumber((redis.call('HGET', STATE, CALLS) or '0'):match('^%d+'))
if latest and NUMBER >= latest then
  if latest == 0 then forget_calls() end
  redis.call('HSET', STATE, CALLS, int(NUMBER) .. '|' .. int(NOW))
  times().turn_clock()
  for i = CAME + 1, #CHANGES, 3 do go(CHANGES[i], CHANGES[i + 1], NOW - tonumber(CHANGES[i + 2])) end -- first: some of them have come back
  for i = 1, CAME do come(CHANGES[i], HOST) end
end
advance()
commit()
return reply('ok', '')
