-- call.lua: one call of the library, from its keys and arguments to its reply.
--
-- Each call takes these steps:
--   1  It reads the room and Redis's time. Some calls end here; see below.
--   2  A request that was sent again, since its reply was lost, gets the reply that is kept (ONCE).
--   3  The room is made ready, as the verb's file says:
--        nothing                  advance() brings the room to the present. After that the lock is free
--                                 only if no waiter is there to take it
--        prepare.VERB = 'begin'   the same, and a room that Redis does not know begins. If the index may
--                                 not have the room, the reply is "register": see existence.unlisted
--        prepare.VERB = 'itself'  the verb does of this what it needs, in its own order
--   4  The verb decides, and changes values and lists of waiters. It returns the code of the reply, the
--      session whose place is in the reply (nil = none), and JSON of further members; see wire.Reply.
--   5  What has changed is written and published, under one version; see state.commit. For a refusal that is
--      what time alone has changed.
--   6  A reply of the code ok is kept.
--
-- KEYS  1 LOCK. All other keys of the room begin as it does; Redis Cluster gets them too: see names.go
-- ARGV  1 the verb; lock and unlock are a join and a leave that thin.lua could not execute
--       2 the room's settings, as JSON
--       3 the name of ONCE; '' = no reply is kept
--       4 to 9  what the caller knows, in the order of caller in codec.go
--       10 what the caller seldom has to say, as JSON of what is not zero; '' = all is
--       11 and on  the verb's arguments, in the order of its struct in Go (codec.go writes all of these)
--
-- These replies mean that the verb was not executed:
--   ahead <ms>       Redis's clock is later than the caller's bound: a slow call, or a clock jump
--   newer            a later release wrote the room, in a format that this library does not know
--   behind           Redis lost writes that the caller has observed; see lineage.check
--   recovering <ms>  the room is in its recovery window for so long; see lineage.check

-- NOTHING is what a caller seldom has to say, if it says nothing.
local NOTHING = { replays = false, read_only = false, outage = 0, clock_jump = 0, trace = '', evicts = false }
local OR_NOTHING = { __index = NOTHING }

local decoded, cached = {}, 0 -- decoded settings, by their JSON; many calls have the same

-- settings_of returns the room's settings from their JSON.
local function settings_of(text)
  local known = decoded[text]
  if not known then
    if cached == 100 then decoded, cached = {}, 0 end
    known = cjson.decode(text)
    decoded[text], cached = known, cached + 1
  end
  return known
end

-- name_keys names the room's keys, as LOCK is named; `once` is the name of ONCE.
local function name_keys(lock, once)
  local of = lock:sub(1, -5)
  ONCE = once ~= '' and of .. once or nil
  if lock == LOCK then return end
  LOCK, QUEUE, STATE, PLACES = lock, of .. 'queue', of .. 'state', of .. 'places'
  SELLERS, SEEN, AWAY, ENDED = of .. 'sellers', of .. 'seen', of .. 'away', of .. 'ended'
  LEASES, JOURNAL, HERE = of .. 'leases', of .. 'journal', of .. 'here'
  INBOX, TEXTS = of .. 'inbox', of .. 'texts'
end

-- nothing_known returns the memo of a call that begins, with the members that most calls set: adding one
-- later takes long. Others are nil until they are set:
--   thin                           the holder of a thin lock without a state; see existence.recall
--   just_begun                     this call begins an ephemeral room, which is not written without a session
--   ended_session, ended_outcome   the lease that is over while Redis takes no writes; see advance.lua
--   kept_for                       see reply.keep_for
--   desk_notified                  whether the desk is notified of new messages
local function nothing_known()
  return {
    history = '',           -- the server's history; see lineage.lua
    lock_exists = false,    -- whether the lock key exists; false once it expired or was deleted by hand
    places_lost = false,    -- whether Redis has the room's state, but not its places
    asks_missing_from = 0,  -- asks between these times may be missing
    asks_missing_until = 0,
    waiting = false,        -- how many sessions wait; see line.length
    joined_last = false,    -- the session that this call put at the end of the line
    grant_channel = false,  -- a new holder's own channel, if it has waited; see event.publish
    places = {},            -- the places that were read or written, by session; false = there is none
    new_keys = {},          -- keys that may be new, without an expiry; see existence.set_expiry
    returned = {},          -- the waiters that are away no more
    room_json = false,      -- see state.room_json
    lease_json = false,     -- see state.lease_json
    presence_checked = false, -- whether presence.mark_gone was called
  }
end

-- execute prepares the room for a verb, executes it, writes what has changed and returns the reply.
local function execute(called)
  local how = prepare[called]
  if how == 'begin' then
    if existence.unlisted() then return reply.make(existence.register()) end
    existence.wake()
  end
  if how ~= 'itself' then advance() end
  local code, session, more = verb[called]()
  if code ~= 'register' then state.commit() end -- a verb that prepares itself may return it
  local text = reply.make(code, session, more)
  if code == 'ok' then reply.keep(text) end
  return text
end

-- call executes one verb and returns its reply.
function call(keys, argv)
  name_keys(keys[1], argv[3])
  local called = thin.room_verb[argv[1]] or argv[1]
  settings, caller, args = settings_of(argv[2]), from_argv.caller(argv), from_argv[called](argv)
  rare = argv[10] == '' and NOTHING or setmetatable(cjson.decode(argv[10]), OR_NOTHING)
  change = { any = false, room = false, lease = false, codes = false, matching = false }
  news, memo = {}, nothing_known()
  state.read()
  if caller.latest > 0 and NOW > caller.latest then return 'ahead ' .. int(NOW) end
  if room.format > FORMAT + 0 then return 'newer' end
  return lineage.check() or reply.repeated() or execute(called)
end
