-- library.lua: the values and the modules that the whole library shares.
--
-- library.go puts the library together: this file, the modules (a table of functions each), the verbs of verb/, call.lua and functions.lua.
-- Functions are made once, when Redis loads the library; call.lua sets the values below anew for each call.
--
-- A room's keys:
--   LOCK     string  the lease as people read it, PXAT = its end; missing = no lease
--   QUEUE    zset    waiting session -> rank (the ticket, until support moves it)
--   STATE    hash    the room's counters, its lease, and what matching has to know, as JSON; see state.lua. `asks` of the lease; see asks.lua. The latest
--                    call of each replica that says who is connected; see verb/presence.lua
--   PLACES   hash    session -> its place; see places.lua
--   SELLERS  hash    seller -> session of its live place
--   SEEN     zset    waiting session that has had a browser, or that a program vouches for -> connected until (ms)
--   AWAY     zset    waiting session that is passed over -> gone since (ms)
--   ENDED    zset    session whose place has ended -> when (ms)
--   LEASES   zset    ended lease -> granted (ms); see leases.lua
--   JOURNAL  stream  what happened, until the ledger has it
--   HERE     zset    session whose browser is connected -> number of the replica that it is connected to; see presence.lua
--   INBOX    zset    "digest|session|fence" of a message of the last minutes -> forget at (ms); see messages.lua
--   TEXTS    hash    digest -> the message's owner and its sealed text; see messages.lua
--   ONCE     string  the reply to this request, so that a repeat gets the same; of a message a hash
--   OWN      list    further keys, which only this verb uses; its file says which
local LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE, OWN
local NOW, US        -- Redis's time in ms and in µs: the only clock
local settings       -- the room's rules; see policy in codec.go
local caller         -- what the calling process knows of the room and of Redis's clock; see caller in codec.go
local args           -- the verb's own arguments: the fields of its struct in the Go file of the same name
local room = {}      -- the room's state as values; see state.lua
local change         -- what this call has changed, and so has to write
local news           -- what this call publishes and journals, by kind
local memo           -- what this call has read already, or is to do once only

local clock, state, lineage, existence, journal, event = {}, {}, {}, {}, {}, {}
local places, line, leases, asks, presence = {}, {}, {}, {}, {}
local messages, matching, support, reply, uncontended, verb = {}, {}, {}, {}, {}, {}
local int, iso -- see text.lua
local advance        -- brings the room to NOW; see advance.lua
local call           -- what Redis calls; see call.lua

local FORMAT = 1                 -- the latest format of keys, events and journal entries that this library reads and writes
local OPEN_FOR = 10 * 60 * 1000  -- an ask waits for its code no longer than this (ms)
local LONGEST = 10 * 60 * 1000   -- a lease is no longer than this in all (ms)
local BATCH = 200                -- no call works on more sessions than this
local ORPHANED = '-'             -- stands for the holder that a loss of data took: no session is granted until its lease would have ended
