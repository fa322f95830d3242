-- waiters.lua: who waits, who of them is there, and whose turn comes.

-- gone_for is true when a session that was last there at `since` has been gone for over `ms`.
local function gone_for(since, ms) return since < NOW - ms and NOW >= S.trust end

-- enqueue has a session wait. (It may be in the line already, where its place alone was lost.)
local function enqueue(session, rank)
  S.line = waiting() + redis.call('ZADD', QUEUE, rank, session)
  if S.line == 1 then made[QUEUE] = true end
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

local function dequeue(session) S.line = waiting() - redis.call('ZREM', QUEUE, session) end

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

-- miss ends a lease that was not claimed in time. Its holder stands in line again with the rank that it had, away from that instant until it says that
-- it is back; the second time its place ends. AWAY has since when somebody is gone, which is AWAY_AFTER before it is away.
local function miss()
  local session, fence, rank, p = S.session, S.fence, S.rank, place(S.session)
  local at = ending().free(S.claim)
  record('ended', '"ticket":%d,"seller":"%s","outcome":"unclaimed","ended_at":%d,"fence":%d', p.ticket, p.seller, at, fence)
  if p.missed then return end_place(session, p, 'dropped', at, fence, nil) end
  put_place(session, live_text(p, 'u' .. int(fence)))
  enqueue(session, rank)
  away_since(session, at - AWAY_AFTER)
  tell('missed', string.format('{"session":"%s","ticket":%d,"seller":"%s","rank":%s,"joined":%d,"fence":%d,"at":%d}',
    session, p.ticket, p.seller, rank, p.at, fence, at))
  tell('notes', string.format('{"ticket":%d,"away":true,"since":%d}', p.ticket, at))
end

-- mark_away is true, unless the session is there all the same.
local function mark_away(session, since)
  redis.call('ZREM', SEEN, session)
  if redis.call('ZSCORE', HERE, session) then return end -- an older program vouched for it, too
  away_since(session, since)
  local p = place(session)
  tell('notes', string.format('{"ticket":%d,"away":true,"since":%d}', p.ticket, since))
  record('away', string.format('"ticket":%d,"seller":"%s","since":%d', p.ticket, p.seller, since))
  return true
end

-- back_again writes that who was away is not any more.
local returned = {}
local function back_again(session)
  redis.call('ZREM', AWAY, session)
  returned[session] = true
  local p = place(session)
  tell('notes', string.format('{"ticket":%d,"away":false}', p.ticket))
  record('back', string.format('"ticket":%d,"seller":"%s"', p.ticket, p.seller))
end

-- first finds the foremost waiter that is not away, its rank, and whether it is in SEEN.
local function first()
  local from, step = 0, 1
  while true do
    local line = redis.call('ZRANGE', QUEUE, int(from), int(from + step - 1), 'WITHSCORES')
    if #line == 0 then return nil end
    for i = 1, #line, 2 do
      local session, rank = line[i], line[i + 1]
      if not redis.call('ZSCORE', AWAY, session) then
        local seen = redis.call('ZSCORE', SEEN, session)
        local vouched = tonumber(seen or NOW)
        if not gone_for(vouched, AWAY_AFTER) or not mark_away(session, vouched) then return session, rank, seen end
      end
    end
    if from == 0 and redis.call('ZCARD', AWAY) == waiting() then return nil end -- nobody is there
    from, step = from + step, 64
  end
end

-- to_claim is until when a waiter has to claim the lease that it is granted now (ms): 0 = it has no browser, as far as is known; nil = it is here already.
local function to_claim(session)
  if CLAIM_WITHIN == 0 or returned[session] then return nil end
  return (redis.call('ZSCORE', HERE, session) or redis.call('ZSCORE', SEEN, session)) and NOW + CLAIM_WITHIN or 0
end

-- hand_on gives the free lock to the first in line who is there.
local function hand_on()
  local session, rank, seen = first()
  if not session then return end
  local claim = to_claim(session)
  dequeue(session)
  if seen then redis.call('ZREM', SEEN, session) end
  grant(session, place(session), rank, claim)
end

-- presence marks who is away and drops who is gone, once for a script: its time stands still.
local present_known = false
local function presence()
  if present_known or NOW < S.trust or waiting() == 0 then return end
  present_known = true
  local gone = redis.call('ZRANGEBYSCORE', SEEN, '-inf', '(' .. int(NOW - AWAY_AFTER), 'WITHSCORES', 'LIMIT', '0', int(BATCH))
  for i = 1, #gone, 2 do mark_away(gone[i], tonumber(gone[i + 1])) end
  local dropped = redis.call('ZRANGEBYSCORE', AWAY, '-inf', '(' .. int(NOW - AWAY_AFTER - DROP_AFTER), 'LIMIT', '0', int(BATCH))
  for _, session in ipairs(dropped) do
    if redis.call('ZSCORE', HERE, session) and not place(session).unclaimed then
      back_again(session) -- an older program held it for away
    else
      leave_line(session, 'dropped')
    end
  end
end

return { gone_for = gone_for, enqueue = enqueue, there_until = there_until, unqueue = unqueue, leave_line = leave_line, miss = miss, back_again = back_again, hand_on = hand_on, presence = presence }
