-- presence.lua: who has come to a replica and who has gone, told once.
-- ARGV   6 the replica's host number  7 the call's number among that replica's in this room, which grows  8 how many of the following have come
--        9.. sessions that have come; then session, host number that it was told under, for how long it has been gone (ms), session, …;
--        at most 500 sessions
-- Codes: ok

local HOST, NUMBER, CAME = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
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
  turn_clock()
  for i = 9 + CAME, #ARGV, 3 do go(ARGV[i], ARGV[i + 1], NOW - tonumber(ARGV[i + 2])) end -- first: some of them have come back
  for i = 9, 8 + CAME do come(ARGV[i], HOST) end
end
advance()
commit()
return reply('ok', '')
