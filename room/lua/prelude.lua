-- prelude.lua: what every verb begins with. Behind it come the other parts that all share, and then each verb's own: script.go says which.
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
-- Publishes one event on "{room}:events" for every change (see event.go). What stands before and behind that name, names.go alone knows.

local LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]

local FORMAT = 2                        -- the latest way to write keys, events and journal entries that is known here; room.Format says what another one means
local REMEMBERED = ONCE ~= LOCK:sub(1, -5) .. 'request:' -- without an id nothing is to be remembered
local REGISTERED_FOR = 45 * 1000        -- shorter than what index_reschedule.lua keeps
local ONCE_KEPT = VANISHES and 4 * 1000 or 60 * 1000 -- for so long a repeated request is recognised, if the verb does not say otherwise
local OPEN_FOR = 10 * 60 * 1000         -- an ask waits for its code no longer than this
local TRUSTED = 3 * 1000                -- within this after an outage every replica has told again who is there
local LOOK_NOTED = 1000                 -- how exactly the last look is known
local BATCH = 200                       -- no script works on more than this many at once
local FORGETTING = 8                    -- one end in so many takes along what has been kept for long enough
local FENCE_KEPT = 24 * 60 * 60 * 1000  -- of a room that vanishes, its highest fence
local ABANDONED = 10 * 60 * 1000        -- after the end of a lease: whoever waits has had it ended long before
local RENEWED = 60 * 1000               -- so long before they have to be, ends of keys are written again

-- All fields of STATE at once, which in a small hash is much less work than naming them. (To fill a table that is large enough is less work than to let it grow.)
local state = { epoch = false, version = false, tickets = false, fence = false, hold = false, spread = false, holds = false, paused = false, session = false,
  seller = false, ticket = false, granted = false, expires = false, over = false, looked = false, trust = false, format = false, lineage = false, doubt = false,
  claim = false, codes = false, unanswered = false }
local fields = redis.call('HGETALL', STATE)
for i = 1, #fields, 2 do state[fields[i]] = fields[i + 1] end

-- Asked before the time is read: a key that its own expiry took away is then past its end below, and
-- one that is missing before its end was deleted by hand.
local LOCK_THERE = (state.session or '') ~= '' and redis.call('EXISTS', LOCK) == 1
local clock = redis.call('TIME')
local US = clock[1] * 1000000 + clock[2]
local NOW = math.floor(US / 1000)
if LATEST > 0 and NOW > LATEST then return 'ahead ' .. int(NOW) end

-- What people read of the lease.
local function lock_json(session, seller, ticket, fence, granted, expires)
  return '{"session_id":"' .. session .. '","seller_id":"' .. seller .. '","ticket":' .. int(ticket) .. ',"fence":' .. int(fence) ..
    ',"locked_at":"' .. iso(granted) .. '","expires_at":"' .. iso(expires) .. '"}'
end

-- Where nobody but the caller is to be told, and nothing is kept of who was there: join_alone.lua and leave_alone.lua.
local QUIETLY = VANISHES and EVENTS == '' and JOURNAL_MAX == 0 and LEASES_KEPT == 0 and ENDED_KEPT == 0 and CLAIM_WITHIN == 0 and not LAYS
