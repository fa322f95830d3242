-- prelude.lua: what every verb shares, with lease.lua and tell.lua behind it. Go puts them in front of each verb's own file.
--
-- KEYS   1 lock     string  the lease as people read it, PXAT = its end; missing = no lease
--        2 queue    zset    waiting session -> rank (the ticket, until moved)
--        3 state    hash    counters, the lease it last granted, pause, average hold and how far holds lie from it
--        4 places   hash    session -> "live|ticket|seller|joined|channel|lease|asks", and of one whose turn passed unclaimed "|u" or, once it is back, "|b" with the lease's fence
--                                   or "OUTCOME|ticket|seller|ended|fence||"
--        5 sellers  hash    seller -> session of its live place
--        6 seen     zset    waiting session whose browser was connected, or that a program vouches for -> was or will have been there until (ms)
--        7 away     zset    waiting session passed over -> gone since (ms)
--        8 ended    zset    session whose place has ended -> when (ms)
--        9 leases   zset    "fence|ticket|ended|session|seller|asking,codes,rejects|asks" of an ended lease -> granted (ms)
--       10 journal  stream  what happened, until the ledger has it
--       11 here     zset    session whose browser is connected -> the replica's host number; see here.lua
--       12 inbox    zset    "digest|session|fence" of a message of the last minutes -> forget at (ms); see inbox.lua
--       13 texts    hash    digest -> where that message belongs, and its sealed text; see inbox.lua
--       14 once     string  the reply to this request id, so that a repeat is told the same; of a message a hash
-- What the script is handed has its names already: those of all verbs are the fields of caller and policy in codec.go, the verb's own those of its struct in
-- the Go file of the same name (MayWait is MAY_WAIT; times and durations in ms).
-- Returns fields joined by one space, "-" for none; the first is "ok" or the refusal's code; or "behind" or "doubt", and
-- nothing was done: see lineage.lua; or "ahead now" and nothing was done: the call took long, or our clock was stepped ahead (see steps.go); or "newer", and nothing was done: a later program wrote the room, in a format that this one does not know.
-- Publishes one event on "{room}:events" for every change (see event.go).

local LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]

local FORMAT = 2                        -- the latest way to write keys, events and journal entries that is known here; room.Format says what another one means
local REMEMBERED = ONCE ~= '{' .. ROOM .. '}:request:' -- without an id nothing is to be remembered
local REGISTERED_FOR = 45 * 1000        -- shorter than what index_reschedule.lua keeps
local ONCE_KEPT = VANISHES and 4 * 1000 or 60 * 1000 -- for so long a repeated request is recognised, if the verb does not say otherwise
local TRUSTED = 3 * 1000                -- within this after an outage every replica has told again who is there
local LOOK_NOTED = 1000                 -- how exactly the last look is known
local BATCH = 200                       -- no script works on more than this many at once

-- int writes a whole number; %d is exact here and much faster than %.0f.
local function int(n) return string.format('%d', n) end

-- Asked before the time is read: a key that its own expiry took away is then past its end below, and
-- one that is missing before its end was deleted by hand.
local LOCK_THERE = redis.call('EXISTS', LOCK) == 1
local clock = redis.call('TIME')
local US = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local NOW = math.floor(US / 1000)
if LATEST > 0 and NOW > LATEST then return 'ahead ' .. int(NOW) end

-- split cuts "a|b|c" into its parts; empty parts stay.
local function split(text)
  local parts = {}
  for part in (text .. '|'):gmatch('([^|]*)|') do parts[#parts + 1] = part end
  return parts
end

local iso
do

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
function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  return string.format('%sT%02d:%02d:%02d.%03dZ', date(days), math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

end

---------------------------------------------------------------- state

-- What the lease has to do with codes: whether it is asking, how often it asked, how many asks no code has come for, from when
-- it may ask (0 = at once), how many codes came where it is not asking, whether a busy number has put its end off, how many messages it rejected,
-- and when it asked last. The asks themselves are read where they are needed: asks.lua.
-- And the latest ask that an ended lease may have left unanswered: whose, when, and when the latest of anybody else.
local function read_codes(s, codes, unanswered)
  local asking, asked, open, after, code, off, rejects, last = (codes or ''):match('^(%d)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)$')
  s.asking, s.asked, s.open, s.ask_after = asking == '1', tonumber(asked or 0), tonumber(open or 0), tonumber(after or 0)
  s.codes, s.put_off, s.rejects, s.last_ask = tonumber(code or 0), off == '1', tonumber(rejects or 0), tonumber(last or 0)
  local session, at, other = (unanswered or ''):match('^([^|]*)|(%d+)|(%d+)$')
  s.open_session, s.open_at, s.open_other = session or '', tonumber(at or 0), tonumber(other or 0)
end

local S = {}
do
  local v = redis.call('HMGET', STATE, 'epoch', 'version', 'tickets', 'fence', 'hold', 'paused',
    'session', 'seller', 'ticket', 'granted', 'expires', 'quiet', 'over', 'looked', 'trust', 'codes', 'unanswered', 'lost',
    'spread', 'holds', 'lineage', 'doubt', 'lost_from', 'format', 'turned', 'turned_from', 'claim')
  S.epoch, S.version, S.tickets = tonumber(v[1] or 0), tonumber(v[2] or 0), tonumber(v[3] or 0)
  S.fence, S.hold, S.paused = tonumber(v[4] or 0), math.min(tonumber(v[5] or LEASE), LEASE), v[6] == '1'
  -- An older program let every lease weigh a fifth and knew no spread: its average goes on with that weight.
  S.spread, S.holds = math.min(tonumber(v[19] or 0), LEASE), tonumber(v[20] or (v[5] and 3 or 0))
  S.session, S.seller, S.ticket = v[7] or '', v[8] or '', tonumber(v[9] or 0)
  S.granted, S.expires, S.quiet, S.over = tonumber(v[10] or 0), tonumber(v[11] or 0), tonumber(v[12] or 0), tonumber(v[13] or 0)
  S.looked, S.trust, S.lost = tonumber(v[14] or 0), tonumber(v[15] or 0), tonumber(v[18] or 0)
  S.format = tonumber(v[24] or 0) -- 0: written before there were formats
  S.lineage, S.doubt, S.lost_from = v[21] or '', tonumber(v[22] or 0), tonumber(v[23] or 0)
  read_codes(S, v[16], v[17])
  if S.trust > NOW + TRUSTED then S.trust = 0 end -- the clock went back
  S.noted = S.lost -- in the state, for everybody
  if STEPPED > S.lost then S.lost, S.lost_from = STEPPED, 0 end -- how long ago anybody asked is not known
  local turned = tonumber(v[25] or 0)
  if turned > S.lost then S.lost, S.lost_from = turned, tonumber(v[26]) end -- see set_back in lease.lua
  -- Until when the lease is to be claimed (0 = it need not be, as far as is known), and with what rank it waited before; nil where it was claimed or need not be.
  S.claim, S.claim_text = 0, v[27] or ''
  if v[27] then
    local fence, by, rank = v[27]:match('^(%d+)|(%d+)|(.+)$')
    if tonumber(fence) == S.fence and S.session ~= '' then S.claim, S.rank = tonumber(by), rank end
  end
end

if S.format > FORMAT then return 'newer' end

-- Where nobody was ever to claim a lease, all is written as a program without claims wrote it, and one may serve beside this one.
local WRITES = (CLAIM_WITHIN > 0 or S.format > 1) and 2 or 1

-- gone_for is true when a session that was last there at `since` has been gone for over `ms`.
local function gone_for(since, ms) return since < NOW - ms and NOW >= S.trust end

local changed, lease_changed, codes_changed, trust_changed, learned = false, false, false, false, false
local joined, ended, moved, noted, missed, records = {}, {}, {}, {}, {}, {}
local granted_rank
local reset = false

local ORPHANED = '-' -- holds the lock where a loss took its holder: until the lease would have ended, nobody is granted
local function held() return S.session ~= '' end

-- ends is when the lease is over with nobody doing anything.
local function ends() return S.claim > 0 and math.min(S.claim, S.expires) or S.expires end

-- record adds a line to the journal; `rest` is JSON members without braces, or a format for what follows.
local function record(kind, rest, ...)
  if JOURNAL_MAX == 0 then return end
  if select('#', ...) > 0 then rest = string.format(rest, ...) end
  records[#records + 1] = '{"type":"' .. kind .. '","at":' .. int(NOW) .. (rest and ',' .. rest or '') .. '}'
end

-- history names the server's history: its replication id, which changes with a restart and a promotion, when the last writes may be missing.
-- "" where the server does not say.
local history = TELLS and redis.pcall('INFO', 'replication') or ''
history = type(history) == 'string' and history:match('master_replid:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''

-- begin starts the first epoch of a room that nothing is known of. One that vanishes is written when somebody is in it.
local function begin()
  redis.call('DEL', LOCK, QUEUE, SELLERS, SEEN, AWAY, ENDED, HERE)
  if not VANISHES then
    for _, kept in ipairs({ LEASES, JOURNAL }) do redis.call('PERSIST', kept) end
  end
  S.epoch, S.version = math.max(US, S.epoch + 1), 0
  S.hold, S.spread, S.holds, learned = LEASE, 0, 0, true
  S.lineage = history ~= '' and history .. ':1' or ''
  if VANISHES then
    S.begun = true
  else
    redis.call('HSET', STATE, 'epoch', int(S.epoch), 'lineage', S.lineage)
  end
  record('epoch')
end

-- unlisted is true when the room's index entry may be gone, or due only long from now: the process
-- registered too long ago, or before the room fell asleep; or it did not do so for this very call, and the
-- store has nothing of the room, so perhaps nothing of the index either. Whoever is about to use the room
-- registers again then, which makes it due at once.
local function unlisted(registered, fresh)
  if VANISHES then return false end -- it is in no index
  return registered <= S.quiet or NOW - registered > REGISTERED_FOR or (S.epoch == 0 and not fresh)
end

-- stay takes back the end that an idle room's keys were given.
local function stay()
  if S.quiet == 0 then return end
  for i = 2, 11 do redis.call('PERSIST', KEYS[i]) end
  redis.call('HDEL', STATE, 'quiet')
end

-- wake makes the room one that is used.
local function wake()
  if S.epoch == 0 then begin() end
  stay()
end

---------------------------------------------------------------- places

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
