-- glance: a room at one look, without its line.
-- Returns a list: "ok view standing(-)", then "=holder's-seller(-) away oldest(ms, 0) leases expired unmatched lost(ms, 0)", and the times of the grants
-- (ms), the latest first, joined by one space.

-- grants are the times of the latest leases; an ended lease's own text has a session in it and stays here.
local function grants(since, most)
  local list = (leases.held() or room.ended_session) and room.granted >= since and { int(room.granted) } or {}
  local ended = redis.call('ZREVRANGEBYSCORE', LEASES, '+inf', int(since), 'WITHSCORES', 'LIMIT', 0, most - #list)
  for i = 2, #ended, 2 do list[#list + 1] = int(tonumber(ended[i])) end
  return table.concat(list, ' ')
end

-- texts_of are some sessions' places as PLACES has them.
local function texts_of(sessions) return #sessions > 0 and redis.call('HMGET', PLACES, unpack(sessions)) or {} end

-- oldest is when the waiter that has waited longest joined, of the first `most` (ms); 0 = none waits.
local function oldest(most)
  local joined = 0
  for _, text in ipairs(texts_of(redis.call('ZRANGE', QUEUE, 0, most - 1))) do
    local at = tonumber(text and text:match('^live|[^|]*|[^|]*|(%d+)') or 0)
    if joined == 0 or at < joined then joined = at end
  end
  return joined
end

-- outcomes counts those of the latest endings that had held the lock, and how many of them expired.
local function outcomes(since, most)
  local n, expired = 0, 0
  if room.ended_session and room.ended_session ~= ORPHANED and room.expires >= since then -- that cannot be written now: see advance.lua
    n, expired = 1, room.ended_outcome == 'expired' and 1 or 0
  end
  for _, text in ipairs(texts_of(redis.call('ZREVRANGEBYSCORE', ENDED, '+inf', int(since), 'LIMIT', 0, most))) do
    local outcome, fence = (text or ''):match('^([^|]*)|[^|]*|[^|]*|[^|]*|(%d+)')
    if fence then
      n = n + 1
      if outcome == 'expired' then expired = expired + 1 end
    end
  end
  return n, expired
end

-- unmatched counts the codes of the last ten minutes that belong to no lease.
local function unmatched()
  local n = 0
  for m in messages.recent() do
    if m.result == 'unmatched' and m.code then n = n + 1 end
  end
  return n
end

function verb.glance()
  state.observe()
  local n, expired = outcomes(NOW - args.ends_for, args.most_ends)
  return {
    reply.make('ok', ''),
    table.concat({ leases.held() and '=' .. room.seller or '-', redis.call('ZCARD', AWAY), int(oldest(args.most_oldest)), n, expired, unmatched(),
      int(room.lost_at) }, ' '),
    grants(NOW - args.grants_for, args.most_grants),
  }
end
