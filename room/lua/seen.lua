-- seen.lua: presence. A replica vouches for the sessions connected to it, and says who has gone.
-- ARGV   6 vouched for (ms from now)  7 how many of the following are here; the rest have gone
--        8.. sessions, at most 500
-- Only waiting sessions count: who has no place, or holds the lock, is passed by.
-- Codes: ok

local VOUCH, HERE = int(NOW + tonumber(ARGV[6])), tonumber(ARGV[7])

-- back is true when the session may keep its place: it was not gone for so long that it is dropped.
local function back(session)
  local since = redis.call('ZSCORE', AWAY, session) or redis.call('ZSCORE', SEEN, session)
  return not since or tonumber(since) >= NOW - AWAY_AFTER - DROP_AFTER
end

local function here(session)
  if not back(session) then return end
  if redis.call('ZREM', AWAY, session) == 1 then
    local p = place(session)
    noted[#noted + 1] = string.format('{"ticket":%.0f,"away":false}', p.ticket)
    record('back', string.format('"ticket":%.0f,"seller":"%s"', p.ticket, p.seller))
  end
  redis.call('ZADD', SEEN, VOUCH, session)
end

for i = 8, #ARGV do
  local session = ARGV[i]
  if redis.call('ZSCORE', QUEUE, session) then
    if i - 7 <= HERE then
      here(session)
    elseif not redis.call('ZSCORE', AWAY, session) then
      redis.call('ZADD', SEEN, int(NOW), session)
    end
  end
end
advance()
commit()
return reply('ok', '')
