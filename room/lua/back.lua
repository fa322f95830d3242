-- back.lua: somebody who waits is there. For seen.lua and those that need here.lua.

local function waits(session) return S.epoch > 0 and redis.call('ZSCORE', QUEUE, session) end

-- back is false for who was gone for so long that it is dropped; who was away is not away any more, unless its turn passed unclaimed ("away"): that one has
-- to say itself that it is back.
local function back(session)
  local away = redis.call('ZSCORE', AWAY, session)
  local since = tonumber(away or redis.call('ZSCORE', SEEN, session) or NOW)
  if waiters().gone_for(since, AWAY_AFTER + DROP_AFTER) then return false end
  if away then
    if WRITES > 1 and place(session).unclaimed then return 'away' end
    waiters().back_again(session)
  end
  return true
end

return waits, back
