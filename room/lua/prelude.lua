-- prelude.lua: what every verb shares, with places.lua, lease.lua and tell.lua behind it. Go puts them in front of each verb's own file.
--
-- KEYS   1 lock     string  the lease as people read it, PXAT = its end; missing = no lease
--        2 queue    zset    waiting session -> rank (the ticket, until moved)
--        3 state    hash    counters, the lease it last granted, pause, average hold and how far holds lie from it; of a room that vanishes also when its keys were given an end
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
local OPEN_FOR = 10 * 60 * 1000         -- an ask waits for its code no longer than this
local TRUSTED = 3 * 1000                -- within this after an outage every replica has told again who is there
local LOOK_NOTED = 1000                 -- how exactly the last look is known
local BATCH = 200                       -- no script works on more than this many at once
local FORGETTING = 8                    -- one end in so many takes along what has been kept for long enough

-- All fields of STATE at once, which in a small hash is much less work than naming them. (To fill a table that is large enough is less work than to let it grow.)
local state = { epoch = false, version = false, tickets = false, fence = false, hold = false, spread = false, holds = false, paused = false, session = false,
  seller = false, ticket = false, granted = false, expires = false, over = false, looked = false, trust = false, format = false, lineage = false, doubt = false,
  claim = false, codes = false, unanswered = false }
do
  local list = redis.call('HGETALL', STATE)
  for i = 1, #list, 2 do state[list[i]] = list[i + 1] end
end

-- Asked before the time is read: a key that its own expiry took away is then past its end below, and
-- one that is missing before its end was deleted by hand.
local LOCK_THERE = (state.session or '') ~= '' and redis.call('EXISTS', LOCK) == 1
local clock = redis.call('TIME')
local US = clock[1] * 1000000 + clock[2]
local NOW = math.floor(US / 1000)
if LATEST > 0 and NOW > LATEST then return 'ahead ' .. int(NOW) end

---------------------------------------------------------------- state

-- What the lease has to do with codes: whether it is asking, how often it asked, how many asks no code has come for, from when
-- it may ask (0 = at once), how many codes came where it is not asking, whether a busy number has put its end off, how many messages it rejected,
-- and when it asked last. The asks themselves are read where they are needed: asks.lua.
-- And the latest ask that an ended lease may have left unanswered: whose, when, and when the latest of anybody else.
local function read_codes(s, codes, unanswered)
  local asking, asked, open, after, code, off, rejects, last = (codes or ''):match('^(%d)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)$')
  s.asking, s.asked, s.open, s.ask_after = asking == '1', (asked or 0) + 0, (open or 0) + 0, (after or 0) + 0
  s.codes, s.put_off, s.rejects, s.last_ask = (code or 0) + 0, off == '1', (rejects or 0) + 0, (last or 0) + 0
  local session, at, other = (unanswered or ''):match('^([^|]*)|(%d+)|(%d+)$')
  s.open_session, s.open_at, s.open_other = session or '', (at or 0) + 0, (other or 0) + 0
end

local S

-- set_average sets how long leases are held and how far that lies from it (ms), and both as they are written and told.
local function set_average(hold, spread)
  S.hold, S.spread = hold, spread
  S.hold_text, S.spread_text = string.format('%.3f', hold), string.format('%.3f', spread)
end

-- since is from when asks may be missing, up to now: they were missing from `from` on, and up to `lost` from `lost_from` on. A message that comes late may
-- have been sent before both.
local function since(from, lost, lost_from) return lost > 0 and NOW - lost < LEASES_KEPT and math.min(from, lost_from) or from end

-- S is the state as values.
do
  local v = state
  -- An older program let every lease weigh a fifth and knew no spread: its average goes on with that weight.
  S = {
    epoch = whole(v.epoch or '0'), version = (v.version or 0) + 0, tickets = (v.tickets or 0) + 0, fence = whole(v.fence or '0'),
    hold = (v.hold or LEASE) + 0, spread = (v.spread or 0) + 0, holds = (v.holds or (v.hold and 3 or 0)) + 0, hold_text = v.hold, spread_text = v.spread,
    paused = v.paused == '1', session = v.session or '', seller = v.seller or '', ticket = whole(v.ticket or '0'),
    granted = whole(v.granted or '0'), expires = whole(v.expires or '0'), quiet = (v.quiet or 0) + 0, over = whole(v.over or '0'),
    looked = (v.looked or 0) + 0, trust = (v.trust or 0) + 0, lost = (v.lost or 0) + 0, lost_from = (v.lost_from or 0) + 0,
    format = (v.format or 0) + 0, -- 0: written before there were formats
    lineage = v.lineage or '', doubt = (v.doubt or 0) + 0,
    -- Until when the lease is to be claimed (0 = it need not be, as far as is known), and with what rank it waited before; no rank where it was claimed or need not be.
    claim = 0, claim_text = v.claim or '', rank = nil,
    -- What read_codes reads, and what is noted here: a table that grows costs more than one that is there.
    asking = false, asked = 0, open = 0, ask_after = 0, codes = 0, put_off = false, rejects = 0, last_ask = 0, open_session = '', open_at = 0, open_other = 0,
    noted = 0, noted_from = 0, turned = 0, turned_from = 0, above = (v.above or 0) + 0, channel = nil, begun = nil, last = nil,
  }
  if not (v.hold and v.spread) or S.hold > LEASE or S.spread > LEASE then set_average(math.min(S.hold, LEASE), math.min(S.spread, LEASE)) end
  read_codes(S, v.codes, v.unanswered)
  if S.trust > NOW + TRUSTED then S.trust = 0 end -- the clock went back
  S.noted, S.noted_from = S.lost, S.lost_from -- in the state, for everybody
  S.turned, S.turned_from = (v.turned or 0) + 0, (v.turned_from or 0) + 0 -- see set_back in lease.lua
  if S.turned > 0 then
    S.lost_from = S.turned > S.lost and since(S.turned_from, S.lost, S.lost_from) or since(S.lost_from, S.turned, S.turned_from)
    S.lost = math.max(S.lost, S.turned)
  end
  if STEPPED > S.lost then S.lost, S.lost_from = STEPPED, 0 end -- how long ago anybody asked is not known
  if S.claim_text ~= '' then
    local fence, by, rank = v.claim:match('^(%d+)|(%d+)|(.+)$')
    if fence + 0 == S.fence and S.session ~= '' then S.claim, S.rank = by + 0, rank end
  end
end

if S.format > FORMAT then return 'newer' end

-- Where nobody was ever to claim a lease, all is written as a program without claims wrote it, and one may serve beside this one.
local WRITES = (CLAIM_WITHIN > 0 or S.format > 1) and 2 or 1

-- gone_for is true when a session that was last there at `since` has been gone for over `ms`.
local function gone_for(since, ms) return since < NOW - ms and NOW >= S.trust end

-- change is what is to be written, and news what is to be told: lists for the event, and the journal's lines.
local change = { any = false, lease = false, codes = false, trust = false, average = false }
local news = { joined = false, ended = false, moved = false, notes = false, missed = false, records = false, rank = false, reset = false }

-- tell adds to a list of the news.
local function tell(list, text)
  local told = news[list]
  if told then told[#told + 1] = text else news[list] = { text } end
end

local ORPHANED = '-' -- holds the lock where a loss took its holder: until the lease would have ended, nobody is granted
local function held() return S.session ~= '' end

-- ends is when the lease is over with nobody doing anything.
local function ends() return S.claim > 0 and math.min(S.claim, S.expires) or S.expires end

-- record adds a line to the journal; `rest` is JSON members without braces, or a format for what follows.
local function record(kind, rest, ...)
  if JOURNAL_MAX == 0 then return end
  if select('#', ...) > 0 then rest = string.format(rest, ...) end
  tell('records', '{"type":"' .. kind .. '","at":' .. int(NOW) .. (rest and ',' .. rest or '') .. '}')
end

-- history names the server's history: its replication id, which changes with a restart and a promotion, when the last writes may be missing.
-- "" where the server does not say.
local history = TELLS and redis.pcall('INFO', 'replication') or ''
do
  local _, last = (type(history) == 'string' and history or ''):find('master_replid:', 1, true)
  history = last and history:match('^%x%x%x%x%x%x%x%x%x%x%x%x', last + 1) or ''
end
