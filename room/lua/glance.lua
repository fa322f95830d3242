-- glance.lua: a room at one look, without its line.
-- Returns a list: "ok view standing(-)", then "=holder's-seller(-) away oldest(ms, 0) leases expired nobodys lost(ms, 0)", and the times of the
-- grants (ms), the latest first, joined by one space.

-- grants are the times of the latest leases; an ended lease's own text has a session in it and stays here.
local function grants(since, most)
  local list = (held() or S.over_session) and S.granted >= since and { int(S.granted) } or {}
  local ended = redis.call('ZREVRANGEBYSCORE', LEASES, '+inf', int(since), 'WITHSCORES', 'LIMIT', 0, most - #list)
  for i = 2, #ended, 2 do list[#list + 1] = int(tonumber(ended[i])) end
  return table.concat(list, ' ')
end

-- places are some sessions' places as PLACES has them; see prelude.lua.
local function places(sessions) return #sessions > 0 and redis.call('HMGET', PLACES, unpack(sessions)) or {} end

local function oldest(most)
  local oldest = 0
  for _, text in ipairs(places(redis.call('ZRANGE', QUEUE, 0, most - 1))) do
    local at = tonumber(text and text:match('^live|[^|]*|[^|]*|(%d+)') or 0)
    if oldest == 0 or at < oldest then oldest = at end
  end
  return oldest
end

-- outcomes counts those of the latest endings that had held the lock, and how many of them expired.
local function outcomes(since, most)
  local leases, expired = 0, 0
  if S.over_session and S.over_session ~= ORPHANED and S.expires >= since then -- that can not be written now: see still.lua
    leases, expired = 1, S.over_outcome == 'expired' and 1 or 0
  end
  for _, text in ipairs(places(redis.call('ZREVRANGEBYSCORE', ENDED, '+inf', int(since), 'LIMIT', 0, most))) do
    local outcome, fence = (text or ''):match('^([^|]*)|[^|]*|[^|]*|[^|]*|(%d+)')
    if fence then
      leases = leases + 1
      if outcome == 'expired' then expired = expired + 1 end
    end
  end
  return leases, expired
end

local function nobodys()
  local n = 0
  for m in recent() do
    if m.result == 'unmatched' and m.code then n = n + 1 end
  end
  return n
end

local leases, expired = outcomes(NOW - ENDS_FOR, MOST_ENDS)
return {
  reply('ok', ''),
  table.concat({ held() and '=' .. S.seller or '-', redis.call('ZCARD', AWAY), int(oldest(MOST_OLDEST)), leases, expired, nobodys(), int(S.noted) }, ' '),
  grants(NOW - GRANTS_FOR, MOST_GRANTS),
}
