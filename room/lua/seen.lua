-- seen.lua: presence. A replica vouches for the sessions connected to it, and says who has gone
-- just now: it was there until now.
-- ARGV   6 vouched for (ms from now)  7 how many of the following are here; the rest have gone
--        8.. sessions, at most 500
-- Only waiting sessions count: who has no place, or holds the lock, is passed by.
-- Codes: ok

local VOUCH, HERE = int(NOW + tonumber(ARGV[6])), tonumber(ARGV[7])

-- present notes that a session was there until `till`, unless it was gone for so long that it is dropped.
local function present(session, till)
  local away = redis.call('ZSCORE', AWAY, session)
  local since = tonumber(away or redis.call('ZSCORE', SEEN, session) or NOW)
  if gone_for(since, AWAY_AFTER + DROP_AFTER) then return end
  if away then
    redis.call('ZREM', AWAY, session)
    local p = place(session)
    noted[#noted + 1] = string.format('{"ticket":%d,"away":false}', p.ticket)
    record('back', string.format('"ticket":%d,"seller":"%s"', p.ticket, p.seller))
  end
  redis.call('ZADD', SEEN, till, session)
end

for i = 8, #ARGV do
  if S.epoch > 0 and redis.call('ZSCORE', QUEUE, ARGV[i]) then present(ARGV[i], i - 7 <= HERE and VOUCH or int(NOW)) end
end
advance()
commit()
return reply('ok', '')
