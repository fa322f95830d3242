-- places.lua: the places of sessions, and the line. For every verb.

-- known are the places that this script has read or written: false is none.
local known = {}

local function read_place(text)
  local outcome, ticket, seller, at, channel, lease, asks, turn = text:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|?([^|]*)|?(.*)$')
  local live = outcome == 'live'
  return { live = live, outcome = not live and outcome or nil, ticket = ticket + 0, seller = seller,
    at = at + 0, channel = live and channel or '', fence = not live and channel or nil,
    lease = live and tonumber(lease) or nil, by_message = not live and lease == 'm', asks = asks == '1',
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

-- waiting is how many are in the line.
local function waiting()
  S.line = S.line or redis.call('ZCARD', QUEUE)
  return S.line
end

-- made are the keys that this script may have made: they have no end yet (see vanishing.lua).
local made = {}

-- put_place writes a place, or drops it where there is no text; `p` is what is to be read from then on.
local function put_place(session, text, p)
  known[session] = p
  if not text then return redis.call('HDEL', PLACES, session) end
  redis.call('HSET', PLACES, session, text)
  if VANISHES and waiting() == 0 and (not held() or S.session == ORPHANED) then made[PLACES] = true end -- it may be the first there
end

-- end_place writes a place's outcome; by_message where a message was what ended its lease.
local function end_place(session, p, outcome, at, fence, rank, by_message)
  if p.seller ~= '' then redis.call('HDEL', SELLERS, p.seller) end
  if ENDED_KEPT > 0 then
    local fence_text = fence and int(fence) or ''
    put_place(session, outcome .. '|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(at) .. '|' .. fence_text .. (by_message and '|m|' or '||'),
      { live = false, outcome = outcome, ticket = p.ticket, seller = p.seller, at = at, channel = '', fence = fence_text, by_message = by_message })
    redis.call('ZADD', ENDED, int(NOW), session) -- not `at`: it is told from now on, however late its end was noticed
    if p.ticket % FORGETTING == 0 then -- a few of those whose outcome was told for long enough
      local old = redis.call('ZRANGEBYSCORE', ENDED, '-inf', int(NOW - ENDED_KEPT), 'LIMIT', '0', int(4 * FORGETTING))
      if #old > 0 then
        redis.call('ZREM', ENDED, unpack(old))
        redis.call('HDEL', PLACES, unpack(old))
        for _, forgotten in ipairs(old) do known[forgotten] = nil end
      end
    end
  else
    put_place(session, nil, false)
  end
  local fence_json = fence and ',"fence":' .. int(fence) or ''
  if EVENTS ~= '' then
    tell('ended', '{"session":"' .. session .. '","ticket":' .. int(p.ticket) .. ',"seller":"' .. p.seller .. '","outcome":"' .. outcome .. '","at":' .. int(at) ..
      fence_json .. (rank and ',"rank":' .. rank or '') .. '}')
  end
  record('ended', '"ticket":' .. int(p.ticket) .. ',"seller":"' .. p.seller .. '","outcome":"' .. outcome .. '","ended_at":' .. int(at) .. fence_json)
  change.any = true
end

return known, place, put_place, waiting, made, end_place
