-- expire.lua: nothing is asked; the room is brought to now. Safe to call at any time by anybody.
-- Codes: active (somebody holds or waits), idle, asleep (idle and its keys are set to go away)
-- Returns code view standing(-) next-look(ms) journal-length

if S.epoch > 0 then times().turn_clock() end
local more = bury(REPLICAS)
advance()
local forget = forget_messages()
commit()

local line, pending = waiting(), redis.call('XLEN', JOURNAL)
local code, look = 'active', NOW + math.min(pending > 0 and TAKE_IN or REST, LEASE) -- a lease that is granted after this look is not over long before the next one
if more then look = NOW end
if held() then look = math.min(look, ends()) end
if forget then look = math.min(look, forget) end
if line > 0 then
  local gone = redis.call('ZRANGE', SEEN, 0, 0, 'WITHSCORES')
  if gone[2] then look = math.min(look, math.max(tonumber(gone[2]) + AWAY_AFTER + 1, S.trust)) end
  local away = redis.call('ZRANGE', AWAY, 0, 0, 'WITHSCORES')
  if away[2] then look = math.min(look, math.max(tonumber(away[2]) + AWAY_AFTER + DROP_AFTER + 1, S.trust)) end
elseif not held() then
  code = 'idle'
  if pending == 0 and not S.paused and not forget then
    code = 'asleep'
    if S.epoch > 0 and S.quiet == 0 and not VANISHES then
      redis.call('HSET', STATE, 'quiet', int(NOW))
      for i = 2, 11 do redis.call('PEXPIRE', KEYS[i], RETENTION) end
    end
  end
end
return reply(code, '') .. ' ' .. int(math.max(look, NOW)) .. ' ' .. pending
