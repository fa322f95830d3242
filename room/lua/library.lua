-- library.lua: the values and the modules that the whole library shares.
--
-- The library is this file, the module wire, which Go makes from the structs of room/wire (see wire.Lua), the
-- other modules (a table of functions each), the verbs of verb/, call.lua and functions.lua; library.go puts
-- them together. Redis makes the functions once, when it loads the library.
-- call.lua sets the values below for each call.
--
-- Times are in unix milliseconds of Redis's clock unless a comment names another unit.

-- What most verbs use:
local args           -- the verb's own arguments: the fields of its struct in package room, beside newVerb
local room = {}      -- the room's state as values; see state.lua
local NOW            -- Redis's time: the only clock
local change         -- parts of the room that this call changed, to be written: room, lease, codes, matching;
                     -- any = replicas see the change too: the version grows, and an event is published
local command        -- redis.call
local int, iso, instant -- numbers and times as text; see text.lua
local places, line, leases, presence, support = {}, {}, {}, {}, {} -- modules, in the files of their names
local verb, prepare = {}, {} -- the verbs, and what call.lua prepares for each
local advance        -- brings the room to NOW; see advance.lua

-- A room's keys:
--   LOCK     string  the lease as people read it, PXAT = its end; missing = no lease
--   QUEUE    zset    waiting session -> rank (the ticket, until support moves it)
--   STATE    hash    the room's state, see state.lua; the lease's asks, see asks.lua; the latest
--                    call of each replica that reports presence, see verb/presence.lua
--   PLACES   hash    session -> its place; see places.lua
--   SELLERS  hash    seller -> session of its live place
--   SEEN     zset    waiting session that had a browser, or for which a program vouches -> connected until
--   AWAY     zset    waiting session that is passed over -> gone since
--   ENDED    zset    session whose place has ended -> when
--   LEASES   zset    ended lease -> granted; see leases.lua
--   JOURNAL  stream  history that the ledger has not drained yet; see journal.lua
--   HERE     zset    session with a connected browser -> number of its replica; see presence.lua
--   INBOX    zset    "digest|session|fence" of a recent message -> forget at; see messages.lua
--   TEXTS    hash    digest -> the recent message's owner and its sealed text; see messages.lua
--   ONCE     string  the reply to this request, which a repeat gets too; nil = it is not kept
local LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE

-- What modules share:
local US             -- Redis's time in µs
local settings       -- the room's rules; see policy in codec.go
local caller         -- what the calling process knows of the room and of the clock; see caller in codec.go
local rare           -- what it seldom has to say; see rare in codec.go
local news           -- what this call publishes and journals: lists of JSON texts; see event.lua
local memo           -- what this call has found or done, and is not stored; see call.lua
local clock, state, lineage, existence, journal, event = {}, {}, {}, {}, {}, {}
local asks, messages, matching, reply, thin = {}, {}, {}, {}, {}
local from_argv = {} -- functions that make caller, and args of each verb, from ARGV; see codec.go
local call           -- the function that Redis calls; see call.lua
local format, concat, max, min, floor -- of string, table and math

local FORMAT = '1'               -- the latest format of keys, events and journal entries that is known here
                                 -- (as text: Lua takes long to join a number to a text)
local BATCH = 200                -- no call works on more sessions than this
local ORPHANED = '-'             -- stands for a holder that was lost, until its lease would have ended

-- take_globals sets the functions of Redis and of Lua that the library uses most.
-- Redis declares them only while it executes a call, and each look-up of one among the globals takes long.
local function take_globals()
  command, format, concat = redis.call, string.format, table.concat
  max, min, floor = math.max, math.min, math.floor
end
