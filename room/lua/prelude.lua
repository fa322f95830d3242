-- prelude.lua: what every verb shares. Go puts it in front of each verb's own file.
--
-- KEYS   1 lock     string  the lease as people read it, PXAT = its end; missing = no lease
--        2 queue    zset    waiting session -> rank (the ticket, until moved)
--        3 state    hash    counters, the lease it last granted, pause, smoothed holding time
--        4 places   hash    session -> "live|ticket|seller|joined|channel|lease"
--                                   or "OUTCOME|ticket|seller|ended|fence|"
--        5 sellers  hash    seller -> session of its live place
--        6 seen     zset    waiting session whose browser is or was connected -> vouched for until (ms)
--        7 away     zset    waiting session passed over -> gone since (ms)
--        8 ended    zset    session whose place has ended -> when (ms)
--        9 leases   zset    "fence|ticket|ended|session|seller" of an ended lease -> granted (ms)
--       10 journal  stream  what happened, until the ledger has it
--       11 inbox    zset    "session/fence|digest|shown|json" of a matched message -> forget at (ms)
--       12 once     string  the reply to this request id (or message), so that a repeat is told the same
-- ARGV   1 room  2 lease (ms)  3 away after (ms)  4 drop after (ms)  5 "journal bound (0 = none)|how long an
--        ended place's outcome is told (ms)|how far back a late message finds its lease (ms, 0 = not at all)|1 = events are told"
--        6.. the verb's own
-- Returns fields joined by one space, "-" for none; the first is "ok" or the refusal's code.
-- Publishes one event on "{room}:events" for every change (see event.go).

local LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local AWAY, ENDED, LEASES, JOURNAL, INBOX, ONCE = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local ROOM, LEASE = ARGV[1], tonumber(ARGV[2])
local AWAY_AFTER, DROP_AFTER = tonumber(ARGV[3]), tonumber(ARGV[4])
local JOURNAL_MAX, ENDED_KEPT, LEASES_KEPT, TELLS = ARGV[5]:match('^(%d+)|(%d+)|(%d+)|(%d)$')
JOURNAL_MAX, ENDED_KEPT, LEASES_KEPT, TELLS = tonumber(JOURNAL_MAX), tonumber(ENDED_KEPT), tonumber(LEASES_KEPT), TELLS == '1'

local REMEMBERED = ONCE ~= '{' .. ROOM .. '}:request:' -- without an id nothing is to be remembered
local REGISTERED_FOR = 45 * 1000        -- shorter than what index_settle.lua keeps
local ONCE_KEPT = 60 * 1000             -- a repeated request is recognised for a minute
local UNSEEN = 10 * 1000                -- an active room is looked at far more often than this
local TRUSTED = 3 * 1000                -- within this every replica vouches for its sessions again
local LOOK_NOTED = 1000                 -- how exactly the last look is known
local BATCH = 200                       -- no script settles more than this many at once

-- Asked before the time is read: a key that its own expiry took away is then past its end below, and
-- one that is missing before its end was deleted by hand.
local LOCK_THERE = redis.call('EXISTS', LOCK) == 1
local clock = redis.call('TIME')
local US = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local NOW = math.floor(US / 1000)

-- int writes a whole number; %d is exact here and much faster than %.0f.
local function int(n) return string.format('%d', n) end

-- split cuts "a|b|c" into its parts; empty parts stay.
local function split(text)
  local parts = {}
  for part in (text .. '|'):gmatch('([^|]*)|') do parts[#parts + 1] = part end
  return parts
end

-- date writes a day of the proleptic Gregorian calendar, counted from 1970. Two times are mostly of one day.
local dates = {}
local function date(days)
  if dates[days] then return dates[days] end
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  dates[days] = string.format('%04d-%02d-%02d', year, month, doy - math.floor((153 * mp + 2) / 5) + 1)
  return dates[days]
end

-- iso writes unix ms as RFC 3339 in UTC.
local function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  return string.format('%sT%02d:%02d:%02d.%03dZ', date(days), math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

---------------------------------------------------------------- state

local S = {}
do
  local v = redis.call('HMGET', STATE, 'epoch', 'version', 'tickets', 'fence', 'hold', 'paused',
    'session', 'seller', 'ticket', 'granted', 'expires', 'quiet', 'over', 'looked', 'trust')
  S.epoch, S.version, S.tickets = tonumber(v[1] or 0), tonumber(v[2] or 0), tonumber(v[3] or 0)
  S.fence, S.hold, S.paused = tonumber(v[4] or 0), math.min(tonumber(v[5] or LEASE), LEASE), v[6] == '1'
  S.session, S.seller, S.ticket = v[7] or '', v[8] or '', tonumber(v[9] or 0)
  S.granted, S.expires, S.quiet, S.over = tonumber(v[10] or 0), tonumber(v[11] or 0), tonumber(v[12] or 0), tonumber(v[13] or 0)
  S.looked, S.trust = tonumber(v[14] or 0), tonumber(v[15] or 0)
  if S.trust > NOW + TRUSTED then S.trust = 0 end -- the clock went back
  -- Nobody could vouch for anybody while the store was away: who was there then counts as there, until
  -- the replicas have had time to say who is.
  if S.looked > 0 and NOW - S.looked > UNSEEN and redis.call('EXISTS', SEEN, AWAY) > 0 then S.trust = NOW + TRUSTED end
end

-- gone_for is true when a session that was last there at `since` has been gone for over `ms`.
local function gone_for(since, ms) return since < NOW - ms and NOW >= S.trust end

local changed, lease_changed = false, false
local joined, ended, moved, noted, records = {}, {}, {}, {}, {}
local granted_rank
local reset = false

local function held() return S.session ~= '' end

-- record adds a line to the journal; `rest` is JSON members without braces, or a format for what follows.
local function record(kind, rest, ...)
  if JOURNAL_MAX == 0 then return end
  if select('#', ...) > 0 then rest = string.format(rest, ...) end
  records[#records + 1] = '{"type":"' .. kind .. '","at":' .. int(NOW) .. (rest and ',' .. rest or '') .. '}'
end

-- begin starts a new epoch: the room was never used, or the store lost it.
local function begin()
  redis.call('DEL', LOCK, QUEUE, PLACES, SELLERS, SEEN, AWAY, ENDED)
  for _, kept in ipairs({ LEASES, JOURNAL }) do redis.call('PERSIST', kept) end
  S.epoch, S.version, S.tickets, S.hold = math.max(US, S.epoch + 1), 0, 0, LEASE
  S.session, S.seller, S.ticket, S.granted, S.expires = '', '', 0, 0, 0
  redis.call('HSET', STATE, 'epoch', int(S.epoch))
  record('epoch')
end

-- unlisted is true when the room's index entry may be gone, or due only long from now: the process
-- registered too long ago, or before the room fell asleep; or it did not do so for this very call, and the
-- store has nothing of the room, so perhaps nothing of the index either. Whoever is about to use the room
-- registers again then, which makes it due at once.
local function unlisted(registered, fresh)
  return registered <= S.quiet or NOW - registered > REGISTERED_FOR or (S.epoch == 0 and fresh ~= '1')
end

-- wake takes back the end that an idle room's keys were given.
local function wake()
  if S.epoch == 0 then begin() end
  if S.quiet == 0 then return end
  for i = 2, 10 do redis.call('PERSIST', KEYS[i]) end
  redis.call('HDEL', STATE, 'quiet')
end

---------------------------------------------------------------- places

local function place(session)
  local text = redis.call('HGET', PLACES, session)
  if not text then return nil end
  local outcome, ticket, seller, at, channel, lease = text:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  local live = outcome == 'live'
  return { live = live, outcome = not live and outcome or nil, ticket = tonumber(ticket), seller = seller,
    at = tonumber(at), channel = live and channel or '', fence = not live and channel or nil,
    lease = live and tonumber(lease) or nil }
end

-- settle writes a place's outcome and forgets a few of those that were told for long enough.
local function settle(session, p, outcome, at, fence, rank)
  if p.seller ~= '' then redis.call('HDEL', SELLERS, p.seller) end
  if ENDED_KEPT > 0 then
    redis.call('HSET', PLACES, session, table.concat({ outcome, int(p.ticket), p.seller, int(at), fence and int(fence) or '', '' }, '|'))
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
    ended[#ended + 1] = string.format('{"session":"%s","ticket":%d,"outcome":"%s"%s%s}', session, p.ticket, outcome,
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
  settle(session, place(session), outcome, NOW, nil, rank)
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

---------------------------------------------------------------- the lease

-- grant gives the free lock to a session; its fence is above every fence before it.
local function grant(session, p, rank)
  S.session, S.seller, S.ticket = session, p.seller, p.ticket
  S.fence = math.max(US, S.fence + 1)
  S.granted = math.max(NOW, S.over) -- leases do not overlap, not even when the clock goes back
  S.expires = S.granted + (p.lease or LEASE)
  S.channel, granted_rank = p.channel, rank
  changed, lease_changed = true, true
  record('granted', '"ticket":%d,"seller":"%s","fence":%d,"granted_at":%d,"expires_at":%d',
    S.ticket, S.seller, S.fence, S.granted, S.expires)
end

-- finish ends the lease; `at` is when it was over. The line moves in advance().
local function finish(outcome, at)
  local session, fence = S.session, S.fence
  at = math.max(at, S.granted)
  S.over = at
  S.hold = math.min(0.2 * (at - S.granted) + 0.8 * S.hold, LEASE)
  if LEASES_KEPT > 0 then
    redis.call('ZADD', LEASES, int(S.granted), table.concat({ int(fence), int(S.ticket), int(at), session, S.seller }, '|'))
    redis.call('ZREMRANGEBYSCORE', LEASES, '-inf', int(NOW - LEASES_KEPT))
  end
  local p = { ticket = S.ticket, seller = S.seller }
  S.session, S.seller, S.ticket, S.granted, S.expires = '', '', 0, 0, 0
  lease_changed = true
  settle(session, p, outcome, at, fence, nil)
end

local function mark_away(session, since)
  redis.call('ZREM', SEEN, session)
  redis.call('ZADD', AWAY, int(since), session)
  local p = place(session)
  noted[#noted + 1] = string.format('{"ticket":%d,"away":true}', p.ticket)
  record('away', string.format('"ticket":%d,"seller":"%s","since":%d', p.ticket, p.seller, since))
end

-- first finds the foremost waiter that is not away.
local function first()
  local from, step = 0, 1
  while true do
    local line = redis.call('ZRANGE', QUEUE, from, from + step - 1, 'WITHSCORES')
    if #line == 0 then return nil end
    for i = 1, #line, 2 do
      local session, rank = line[i], line[i + 1]
      if not redis.call('ZSCORE', AWAY, session) then
        local vouched = tonumber(redis.call('ZSCORE', SEEN, session) or NOW)
        if not gone_for(vouched, AWAY_AFTER) then return session, rank end
        mark_away(session, vouched)
      end
    end
    if from == 0 and redis.call('ZCARD', AWAY) == redis.call('ZCARD', QUEUE) then return nil end -- nobody is there
    from, step = from + step, 64
  end
end

-- presence marks who is away and drops who is gone, once for a script: its time stands still.
local present_known = false
local function presence()
  if present_known or NOW < S.trust then return end
  present_known = true
  local gone = redis.call('ZRANGEBYSCORE', SEEN, '-inf', '(' .. int(NOW - AWAY_AFTER), 'WITHSCORES', 'LIMIT', 0, BATCH)
  for i = 1, #gone, 2 do mark_away(gone[i], tonumber(gone[i + 1])) end
  local dropped = redis.call('ZRANGEBYSCORE', AWAY, '-inf', '(' .. int(NOW - AWAY_AFTER - DROP_AFTER), 'LIMIT', 0, BATCH)
  for _, session in ipairs(dropped) do leave_line(session, 'dropped') end
end

-- advance brings the room to NOW: it ends what is over, marks who is away, drops who is gone,
-- and hands the free lock to the first in line. Every verb calls it first, so that the room's
-- state is a function of what was asked and of Redis's clock, whoever looks.
local function advance()
  if S.epoch == 0 then
    if redis.call('EXISTS', PLACES) == 0 then return end
    begin() -- the state was lost and the places were not: they can not be trusted
    changed, lease_changed = true, true
  end
  if held() then
    if NOW >= S.expires then
      finish('expired', S.expires)
    elseif not LOCK_THERE and not lease_changed then
      finish('forced', NOW)
    end
  end
  presence()
  if not held() and not S.paused then
    local session, rank = first()
    if session then
      unqueue(session)
      grant(session, place(session), rank)
    end
  end
end

---------------------------------------------------------------- telling

local function lease_json()
  if not held() then return 'null' end
  return string.format('{"session":"%s","ticket":%d,"fence":%d,"granted_at":%d,"expires_at":%d%s}',
    S.session, S.ticket, S.fence, S.granted, S.expires, granted_rank and ',"rank":' .. granted_rank or '')
end

local function write_lock()
  if held() then
    redis.call('SET', LOCK, string.format('{"session_id":"%s","seller_id":"%s","ticket":%d,"fence":%d,"locked_at":"%s","expires_at":"%s"}',
      S.session, S.seller, S.ticket, S.fence, iso(S.granted), iso(S.expires)), 'PXAT', int(S.expires))
  else
    redis.call('DEL', LOCK)
  end
end

local function write_state()
  local fields = { 'version', int(S.version), 'tickets', int(S.tickets), 'paused', S.paused and '1' or '0' }
  if lease_changed then
    local lease = { 'session', S.session, 'seller', S.seller, 'ticket', int(S.ticket), 'granted', int(S.granted),
      'expires', int(S.expires), 'over', int(S.over), 'fence', int(S.fence), 'hold', string.format('%.3f', S.hold) }
    for _, v in ipairs(lease) do fields[#fields + 1] = v end
  end
  redis.call('HSET', STATE, unpack(fields))
end

local function event_json()
  return string.format('{"epoch":%d,"version":%d,"now":%d,"hold":%.3f,"paused":%s,"changed":%s,"lease":%s,' ..
    '"joined":[%s],"ended":[%s],"moved":[%s],"reset":%s,"notes":[%s]}', S.epoch, S.version, NOW, S.hold, tostring(S.paused),
    tostring(changed), lease_json(), table.concat(joined, ','), table.concat(ended, ','), table.concat(moved, ','),
    tostring(reset), table.concat(noted, ','))
end

-- commit writes what changed, tells it once, and journals it. Without a change it does nothing.
-- The version grows by one however much happened: a handoff is one change.
local function commit()
  if changed then
    S.version = S.version + 1
    if lease_changed then write_lock() end
    write_state()
  end
  if S.epoch > 0 and math.abs(NOW - S.looked) >= LOOK_NOTED then
    redis.call('HSET', STATE, 'looked', int(NOW), 'trust', int(S.trust))
  end
  if #records > 0 then
    redis.call('XADD', JOURNAL, 'MAXLEN', '~', JOURNAL_MAX, '*', 'epoch', int(S.epoch), 'version', int(S.version),
      'records', '[' .. table.concat(records, ',') .. ']')
  end
  -- Last, since a user without the right to publish is refused here: what is written is written whole.
  if TELLS and (changed or #noted > 0) then redis.call('PUBLISH', '{' .. ROOM .. '}:events', event_json()) end
  if S.channel and S.channel ~= '' then
    redis.call('PUBLISH', S.channel, string.format('{"room":"%s",%s', ROOM, lease_json():sub(2)))
  end
end

-- view is the part of a reply that says how the room is.
local function view()
  local lease = held() and { int(S.ticket), int(S.fence), int(S.granted), int(S.expires) } or { '-', '-', '-', '-' }
  return table.concat({ int(S.epoch), int(S.version), int(NOW), redis.call('ZCARD', QUEUE), string.format('%.3f', S.hold),
    S.paused and '1' or '0', lease[1], lease[2], lease[3], lease[4] }, ' ')
end

-- standing is the part of a reply that says how a session stands:
-- status ticket =seller outcome fence position rank
local function standing(session)
  local p = session ~= '' and place(session)
  if not p then return 'idle - - - - - -' end
  local seller = '=' .. p.seller -- a seller may be called "-"
  if not p.live then
    return table.concat({ 'ended', int(p.ticket), seller, p.outcome, p.fence ~= '' and p.fence or '-', '-', '-' }, ' ')
  end
  if session == S.session then
    return table.concat({ 'locked', int(p.ticket), seller, '-', int(S.fence), '-', '-' }, ' ')
  end
  return table.concat({ 'waiting', int(p.ticket), seller, '-', '-', redis.call('ZRANK', QUEUE, session) + 1,
    redis.call('ZSCORE', QUEUE, session) }, ' ')
end

local function reply(code, session) return code .. ' ' .. view() .. ' ' .. standing(session) end

-- answer commits and remembers the reply under the request's id.
local function answer(code, session)
  commit()
  local text = reply(code, session)
  if REMEMBERED then redis.call('SET', ONCE, text, 'PX', ONCE_KEPT) end
  return text
end

-- refuse commits what time alone changed and says why nothing else did.
local function refuse(code, session)
  commit()
  return reply(code, session or '')
end

-- register asks the caller to put the room into the index and come again; nothing happened.
local function register() return 'register ' .. view() .. ' ' .. standing('') end

local function repeated() return REMEMBERED and redis.call('GET', ONCE) end
