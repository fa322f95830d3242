-- places.lua: the places of sessions, and the line. For every verb.

local function place(session)
  local text = redis.call('HGET', PLACES, session)
  if not text then return nil end
  local outcome, ticket, seller, at, channel, lease, asks, turn = text:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|?([^|]*)|?(.*)$')
  local live = outcome == 'live'
  return { live = live, outcome = not live and outcome or nil, ticket = tonumber(ticket), seller = seller,
    at = tonumber(at), channel = live and channel or '', fence = not live and channel or nil,
    lease = live and tonumber(lease) or nil, asks = asks == '1',
    unclaimed = turn:byte() == 117, missed = turn ~= '' and turn:sub(2) or nil } -- 117 = u
end

-- end_place writes a place's outcome and forgets a few of those that were told for long enough.
local function end_place(session, p, outcome, at, fence, rank)
  if p.seller ~= '' then redis.call('HDEL', SELLERS, p.seller) end
  if ENDED_KEPT > 0 then
    redis.call('HSET', PLACES, session, table.concat({ outcome, int(p.ticket), p.seller, int(at), fence and int(fence) or '', '', '' }, '|'))
    redis.call('ZADD', ENDED, int(NOW), session) -- not `at`: it is told from now on, however late its end was noticed
    local old = redis.call('ZRANGEBYSCORE', ENDED, '-inf', int(NOW - ENDED_KEPT), 'LIMIT', 0, 4)
    if #old > 0 then
      redis.call('ZREM', ENDED, unpack(old))
      redis.call('HDEL', PLACES, unpack(old))
    end
  else
    redis.call('HDEL', PLACES, session)
  end
  if TELLS then
    ended[#ended + 1] = string.format('{"session":"%s","ticket":%d,"seller":"%s","outcome":"%s","at":%d%s%s}', session, p.ticket, p.seller, outcome, at,
      fence and ',"fence":' .. int(fence) or '', rank and ',"rank":' .. rank or '')
  end
  record('ended', '"ticket":%d,"seller":"%s","outcome":"%s","ended_at":%d%s', p.ticket, p.seller, outcome, at,
    fence and ',"fence":' .. int(fence) or '')
  changed = true
end

local function unqueue(session)
  redis.call('ZREM', QUEUE, session)
  redis.call('ZREM', SEEN, session)
  redis.call('ZREM', AWAY, session)
end

-- leave_line ends the place of a waiter.
local function leave_line(session, outcome)
  local rank = redis.call('ZSCORE', QUEUE, session)
  unqueue(session)
  end_place(session, place(session), outcome, NOW, nil, rank)
end

-- waiter finds who waits with a ticket: its rank is the ticket, unless it was moved.
local function waiter(ticket)
  local mark = 'live|' .. int(ticket) .. '|'
  local line = redis.call('ZRANGEBYSCORE', QUEUE, int(ticket), int(ticket))
  local from, step = 0, 500
  repeat
    local texts = #line > 0 and redis.call('HMGET', PLACES, unpack(line)) or {}
    for i, text in ipairs(texts) do
      if text and text:sub(1, #mark) == mark then return line[i] end
    end
    line, from = redis.call('ZRANGE', QUEUE, from, from + step - 1), from + step
  until #line == 0
end

return place, end_place, unqueue, leave_line, waiter
