-- lease.lua: granting the lock and ending leases, who is there to be granted, and what ended leases asked for. For every verb.

-- An ask is { n, at, answered, filter }: its number in the lease, when, the digest of the message that answered it ("" = it
-- is open), and what the message must be like (for Go to read; "" = like anything). In text: "n,at,answered,filter;…".
local function parse_asks(text)
  local asks = {}
  for n, at, answered, filter in (text or ''):gmatch('(%d+),(%d+),([^,]*),([^;]*);') do
    asks[#asks + 1] = { n = n + 0, at = at + 0, answered = answered, filter = filter }
  end
  return asks
end

-- parse_lease reads an ended lease. One that an older program wrote says nothing of codes: it counts as answered.
local function parse_lease(text, granted)
  local fence, ticket, ended, session, seller, codes, asks = text:match('^(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|?([^|]*)|?([^|]*)')
  local asking, code, rejects = codes:match('^(%d),(%d+),(%d+)$')
  return { fence = fence + 0, ticket = ticket + 0, ended = ended + 0, session = session, seller = seller, granted = granted + 0,
    asking = asking == '1', codes = (code or 1) + 0, rejects = (rejects or 0) + 0, asks = parse_asks(asks), text = text }
end

-- past lists the ended leases, the latest first, as an iterator; with `to` those that were granted before it. It reads
-- `step` at a time.
local function past(to, step)
  local from, i, list = 0, 1, {}
  return function()
    if i > #list then
      list = redis.call('ZREVRANGEBYSCORE', LEASES, to and '(' .. int(to) or '+inf', '-inf', 'WITHSCORES', 'LIMIT', int(from), int(step))
      from, i = from + step, 1
      if #list == 0 then return nil end
    end
    i = i + 2
    return parse_lease(list[i - 2], list[i - 1])
  end
end

-- last_open is when an ended lease asked last for what has not come: at its end, where it was not asking and no code came,
-- since it may have asked at any time; nil where nothing is open.
local function last_open(lease)
  if not lease.asking then return lease.codes == 0 and lease.ended or nil end
  local at
  for _, ask in ipairs(lease.asks) do
    if ask.answered == '' and ask.at > (at or -1) then at = ask.at end
  end
  return at
end

-- leave_open notes that an ended lease left an ask open, so that most of the time nobody has to look.
local function leave_open(session, at)
  if session == S.open_session then
    S.open_at = math.max(S.open_at, at)
  elseif at < S.open_at then
    S.open_other = math.max(S.open_other, at)
  else
    S.open_other, S.open_session, S.open_at = math.max(S.open_other, S.open_at), session, at
  end
  change.codes = true
end

-- asked_by_others is when another session's lease asked last for what has not come, unless that is over `ms` ago; nil for none. What was asked before a
-- loss may not be known any more.
local function asked_by_others(session, ms)
  local lost = S.noted > 0 and NOW < S.noted + ms and S.noted or nil
  local latest = session == S.open_session and S.open_other or S.open_at
  if latest == 0 or NOW >= latest + ms then return lost end
  for lease in past(nil, 2) do
    if NOW >= lease.ended + ms then return lost end
    local at = lease.session ~= session and last_open(lease)
    if at and NOW < at + ms then return math.max(at, lost or 0) end
  end
  return lost
end

-- await notes that a session, which asked last at that moment, may be sent one more code though that ask is answered: see awaited in match.lua. 0: it may not.
-- Until the quarantine of that ask is over nobody else asks.
local function await(session, at)
  if at > 0 then
    S.awaits, S.awaited, change.codes = session, at, true
  elseif S.awaits == session then
    S.awaits, S.awaited, change.codes = '', 0, true
  end
end

-- busy_until is when a session may ask for a code that can be told from another's; 0 = now. An ask that lies ahead was written before the clock went back:
-- nobody waits longer for it than for what was asked just now.
local function busy_until(session)
  local at = asked_by_others(session, QUARANTINE)
  if S.awaits ~= session and S.awaited > 0 then at = math.max(at or 0, S.awaited) end
  local free = math.max(at and math.min(at, NOW) + QUARANTINE or 0, S.lost > 0 and S.lost + QUARANTINE or 0)
  return NOW < free and free or 0
end

-- grant gives the free lock to a session; its fence is above every fence before it. `claim` is as to_claim says.
local function grant(session, p, rank, claim)
  S.session, S.seller, S.ticket = session, p.seller, p.ticket
  S.fence = math.max(US, S.fence + 1, S.above + 1)
  S.granted = math.max(NOW, S.over) -- leases do not overlap, not even when the clock goes back
  S.expires = NOW + (p.lease or LEASE)
  S.channel, news.rank = p.channel, rank
  if claim then S.claim, S.rank = claim, rank end
  read_codes(S, '', S.open_session .. '|' .. int(S.open_at) .. '|' .. int(S.open_other))
  S.asking, S.ask_after = REQUIRED or p.asks, LEASES_KEPT > 0 and busy_until(session) or 0
  change.any, change.lease, change.codes = true, true, LEASES_KEPT > 0
  record('granted', '"ticket":' .. int(S.ticket) .. ',"seller":"' .. S.seller .. '","fence":' .. int(S.fence) .. ',"granted_at":' .. int(S.granted) ..
    ',"expires_at":' .. int(S.expires))
end

local function lease_text(fence, ticket, ended, session, seller, asking, codes, rejects, asks)
  return int(fence) .. '|' .. int(ticket) .. '|' .. int(ended) .. '|' .. session .. '|' .. seller .. '|' .. (asking and '1,' or '0,') .. int(codes) .. ',' .. int(rejects) ..
    '|' .. asks
end

-- live_text is a live place as PLACES has it, with what became of its turn.
local function live_text(p, turn)
  return 'live|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(p.at) .. '|' .. p.channel .. '|' .. (p.lease and int(p.lease) or '') .. (p.asks and '|1' or '|0') ..
    (turn and '|' .. turn or '')
end

-- keep writes an ended lease down, for messages that come late.
local function keep(ended)
  local asks = S.asked > 0 and redis.call('HGET', STATE, 'asks') or ''
  redis.call('ZADD', LEASES, int(S.granted), lease_text(S.fence, S.ticket, ended, S.session, S.seller, S.asking, S.codes, S.rejects, asks))
  if S.fence % FORGETTING == 0 then redis.call('ZREMRANGEBYSCORE', LEASES, '-inf', int(NOW - LEASES_KEPT)) end
  local at = last_open({ asking = S.asking, codes = S.codes, ended = ended, asks = S.open > 0 and parse_asks(asks) or {} })
  if at then leave_open(S.session, at) end
  if S.asked > 0 then redis.call('HDEL', STATE, 'asks') end
end

-- learn takes into the average how long a lease was held (ms): as the nth it weighs 1/(n + 1), from the ninth on a tenth. docs/estimates.md says why.
local function learn(held_for)
  S.holds = math.min(S.holds + 1, 9)
  local weight, off = 1 / (S.holds + 1), math.min(held_for, LEASE) - S.hold
  set_average(S.hold + weight * off, math.sqrt((1 - weight) * (S.spread * S.spread + weight * off * off)))
  change.average = true
end

-- free ends the lease and returns when it was over, which is `at` or when something happened in it later. The line moves in advance().
local function free(at)
  at = math.max(at, S.granted, S.last_ask)
  S.over = math.max(S.over, at) -- where a loss took the holder, later leases were told of
  if S.session ~= ORPHANED and LEASES_KEPT > 0 then keep(at) end
  S.session, S.seller, S.ticket, S.granted, S.expires, S.claim, S.rank = '', '', 0, 0, 0, 0, nil
  change.any, change.lease = true, true
  return at
end

-- finish ends the lease and its holder's place. Whose lease it was that is nobody's any more was told long ago.
local function finish(outcome, at)
  local session, fence, granted, p = S.session, S.fence, S.granted, { ticket = S.ticket, seller = S.seller }
  at = free(at)
  if session == ORPHANED then return end
  learn(at - granted)
  end_place(session, p, outcome, at, fence, nil)
end

-- miss ends a lease that was not claimed in time. Its holder stands in line again with the rank that it had, away from that instant until it says that
-- it is back; the second time its place ends. AWAY has since when somebody is gone, which is AWAY_AFTER before it is away.
local function miss()
  local session, fence, rank, p = S.session, S.fence, S.rank, place(S.session)
  local at = free(S.claim)
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

-- claim_by gives the holder until then to claim its lease.
local function claim_by(at)
  if at > S.claim then S.claim, change.any, change.lease = at, true, true end
end

-- trust has nobody judged for a while: the store was away, and nobody was able to say that it is there. Who was there then counts as there until the
-- replicas have had the time to say who is, and who was to claim its lease has the whole time again.
local function trust(ms)
  local till = NOW + math.min(ms, TRUSTED)
  if ms > 0 and till > S.trust then
    S.trust, change.trust = till, true
    if S.claim > 0 then claim_by(till - TRUSTED + CLAIM_WITHIN) end
  end
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

local TURNED = 1000 -- a clock that goes back by less is none that was set (ms)

-- set_back brings what lies ahead to a clock that went back by `ms`, so that nothing takes longer for it. But the times of leases and asks stay, or two leases would overlap:
-- until the clock has been there again, and for a quarantine more, what is sent can not be told apart by its time, and is nobody's.
local function set_back(ms)
  if ms >= TURNED then
    S.turned_from = since(NOW, S.turned, S.turned_from)
    S.turned = math.max(S.lost, S.looked, S.granted, S.over, S.last_ask)
    S.lost_from, S.lost = since(S.turned_from, S.lost, S.lost_from), S.turned
    redis.call('HSET', STATE, 'turned', int(S.turned), 'turned_from', int(S.turned_from))
  end
  if held() then
    S.expires, change.any, change.lease = S.expires - ms, true, true
    if S.claim > 0 then S.claim = S.claim - ms end
    if S.session ~= ORPHANED then
      record('extended', '"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', S.ticket, S.seller, S.fence, S.expires)
    end
  end
  for _, key in ipairs({ SEEN, AWAY, INBOX }) do
    local list = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #list, 2 do redis.call('ZADD', key, int(list[i + 1] - ms), list[i]) end
  end
  S.looked = NOW
  redis.call('HSET', STATE, 'looked', int(NOW))
end

local function turn_clock()
  if NOW < S.looked then set_back(S.looked - NOW) end
end

-- advance brings the room to NOW: it ends what is over, marks who is away, drops who is gone,
-- and hands the free lock to the first in line. Every verb calls it first, so that the room's
-- state is a function of what was asked and of Redis's clock, whoever looks.
local function advance()
  if S.epoch == 0 or S.begun then return end
  turn_clock()
  trust(math.max(OUTAGE, STEPPED) + TRUSTED - NOW) -- a step is no time that anybody was gone for
  if held() then
    if S.claim > 0 and NOW >= S.claim and S.claim <= S.expires then
      miss()
    elseif NOW >= S.expires then
      finish('expired', S.expires)
    elseif not LOCK_THERE and not change.lease then
      finish('forced', NOW)
    end
  end
  presence()
  if not held() and not S.paused and waiting() > 0 then
    local session, rank, seen = first()
    if session then
      local claim = to_claim(session)
      dequeue(session)
      if seen then redis.call('ZREM', SEEN, session) end
      grant(session, place(session), rank, claim)
    end
  end
end

return parse_asks, past, last_open, leave_open, asked_by_others, await, busy_until, grant, lease_text, live_text, finish, back_again, claim_by, trust, turn_clock, advance
