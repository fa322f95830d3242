-- places.lua: the places of sessions, and the line. For every verb.

-- known are the places that this script has read or written: false is none.
local known = {}

local function read_place(text)
  local outcome, ticket, seller, at, channel, lease, asks, turn = text:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|?([^|]*)|?(.*)$')
  local live = outcome == 'live'
  return { live = live, outcome = not live and outcome or nil, ticket = ticket + 0, seller = seller,
    at = at + 0, channel = live and channel or '', fence = not live and channel or nil,
    lease = live and tonumber(lease) or nil, asks = asks == '1',
    unclaimed = turn:byte() == 117, missed = turn ~= '' and turn:sub(2) or nil } -- 117 = u
end

-- place is a session's place; nil for none. It is not to be changed but by put_place.
local function place(session)
  local p = known[session]
  if p == nil then
    local text = redis.call('HGET', PLACES, session)
    p = text and read_place(text)
    known[session] = p
  end
  return p or nil
end

local function drop_place(session)
  redis.call('HDEL', PLACES, session)
  known[session] = false
end

-- forget_known has places read anew: PLACES is gone.
local function forget_known() known = {} end

-- waiting is how many are in the line.
local counted
local function waiting()
  counted = counted or redis.call('ZCARD', QUEUE)
  return counted
end

-- made are the keys that this script may have made: they have no end yet (see pass in tell.lua).
local made = {}

-- put_place writes a place; `p` is what is to be read from then on.
local function put_place(session, text, p)
  redis.call('HSET', PLACES, session, text)
  known[session] = p
  if VANISHES and waiting() == 0 and (not held() or S.session == ORPHANED) then made[PLACES] = true end -- it may be the first there
end

-- enqueue has a session wait. (It may be in the line already, where its place alone was lost.)
local function enqueue(session, rank)
  counted = waiting() + redis.call('ZADD', QUEUE, rank, session)
  if counted == 1 then made[QUEUE] = true end
end

-- there_until notes that a waiter is there until then (ms), or was.
local function there_until(session, at)
  redis.call('ZADD', SEEN, int(at), session)
  made[SEEN] = true
end

-- away_since notes that a waiter is passed over, and since when it has been gone (ms).
local function away_since(session, at)
  redis.call('ZADD', AWAY, int(at), session)
  made[AWAY] = true
end

-- forget_ended forgets a few of those whose outcome was told for long enough.
local function forget_ended()
  local old = redis.call('ZRANGEBYSCORE', ENDED, '-inf', int(NOW - ENDED_KEPT), 'LIMIT', '0', int(4 * FORGETTING))
  if #old == 0 then return end
  redis.call('ZREM', ENDED, unpack(old))
  redis.call('HDEL', PLACES, unpack(old))
  for _, session in ipairs(old) do known[session] = nil end
end

-- end_place writes a place's outcome.
local function end_place(session, p, outcome, at, fence, rank)
  if p.seller ~= '' then redis.call('HDEL', SELLERS, p.seller) end
  if ENDED_KEPT > 0 then
    local fence_text = fence and int(fence) or ''
    put_place(session, outcome .. '|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(at) .. '|' .. fence_text .. '||',
      { live = false, outcome = outcome, ticket = p.ticket, seller = p.seller, at = at, channel = '', fence = fence_text })
    redis.call('ZADD', ENDED, int(NOW), session) -- not `at`: it is told from now on, however late its end was noticed
    if p.ticket % FORGETTING == 0 then forget_ended() end
  else
    drop_place(session)
  end
  local fence_json = fence and ',"fence":' .. int(fence) or ''
  if TELLS then
    tell('ended', '{"session":"' .. session .. '","ticket":' .. int(p.ticket) .. ',"seller":"' .. p.seller .. '","outcome":"' .. outcome .. '","at":' .. int(at) ..
      fence_json .. (rank and ',"rank":' .. rank or '') .. '}')
  end
  record('ended', '"ticket":' .. int(p.ticket) .. ',"seller":"' .. p.seller .. '","outcome":"' .. outcome .. '","ended_at":' .. int(at) .. fence_json)
  change.any = true
end

local function dequeue(session) counted = waiting() - redis.call('ZREM', QUEUE, session) end

-- unqueue takes a waiter out of the line, with what is known of its being there.
local function unqueue(session)
  dequeue(session)
  redis.call('ZREM', SEEN, session)
  redis.call('ZREM', AWAY, session)
end

-- leave_line ends the place of a waiter.
local function leave_line(session, outcome)
  local rank = redis.call('ZSCORE', QUEUE, session)
  unqueue(session)
  end_place(session, place(session), outcome, NOW, nil, rank)
end

return place, put_place, drop_place, forget_known, waiting, made, enqueue, there_until, away_since, end_place, dequeue, unqueue, leave_line
