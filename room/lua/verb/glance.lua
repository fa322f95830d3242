-- glance: the figures of a room for the desk, without its line.
--
-- args:
--   grants_for, most_grants  how far back grants are listed (ms), and how many
--   ends_for, most_ends      how far back endings are counted (ms), and how many
--   most_oldest              how many waiters are read to find the one that joined first
-- Returns a reply with `glance`, see wire.Glance.

-- grants returns the times of the latest grants.
-- It does not return the members of LEASES, since they have sessions in them.
local function grants(since, most)
  local list = (leases.held() or memo.ended_session) and room.granted >= since and { int(room.granted) } or {}
  local ended =
    command('ZREVRANGEBYSCORE', LEASES, '+inf', int(since), 'WITHSCORES', 'LIMIT', 0, most - #list)
  for i = 2, #ended, 2 do list[#list + 1] = int(tonumber(ended[i])) end
  return list
end

-- texts_of returns some sessions' places as PLACES has them.
local function texts_of(sessions)
  return #sessions > 0 and command('HMGET', PLACES, unpack(sessions)) or {}
end

-- oldest returns when the earliest of the first `most` waiters joined; 0 if none waits.
local function oldest(most)
  local joined = 0
  for _, text in ipairs(texts_of(command('ZRANGE', QUEUE, 0, most - 1))) do
    local at = text and wire.read_stored_place(text).joined or 0
    if joined == 0 or at < joined then joined = at end
  end
  return joined
end

-- outcomes returns how many of the places that ended last had held the lock, and how many of those expired.
local function outcomes(since, most)
  local n, expired = 0, 0
  if memo.ended_session and memo.ended_session ~= ORPHANED and room.expires >= since then
    n, expired = 1, memo.ended_outcome == 'expired' and 1 or 0
  end
  local ended = command('ZREVRANGEBYSCORE', ENDED, '+inf', int(since), 'LIMIT', 0, most)
  for _, text in ipairs(texts_of(ended)) do
    local p = wire.read_stored_place(text or '{}')
    if p.fence > 0 then
      n = n + 1
      if p.outcome == 'expired' then expired = expired + 1 end
    end
  end
  return n, expired
end

-- unmatched returns how many of the recent messages have a code and belong to no lease.
local function unmatched()
  local n = 0
  for m in messages.recent() do
    if m.result == 'unmatched' and m.code ~= '' then n = n + 1 end
  end
  return n
end

function verb.glance()
  local n, expired = outcomes(NOW - args.ends_for, args.most_ends)
  return 'ok', nil, '"glance":' .. wire.glance({ holder = leases.held() and room.seller or '',
    away = command('ZCARD', AWAY), oldest = oldest(args.most_oldest), leases = n, expired = expired,
    nobodys = unmatched(), lost_at = room.lost_at,
    grants = grants(NOW - args.grants_for, args.most_grants) })
end
