-- call.lua: one call of the library, from its keys and arguments to its reply.
--
-- KEYS  those that library.lua names, in that order; LOCK alone if thin.lua could not execute the verb
-- ARGV  1 the verb
--       2 the room's settings, as JSON
--       3 what the caller knows, as JSON; what it does not know is left out
--       4 the verb's arguments, as JSON (codec.go writes all three)
--
-- A verb replies "ok …", or the code of a refusal with fields behind it, or a list of such texts; see
-- reply.lua. These replies mean that the verb was not executed:
--   ahead <ms>       Redis's clock is later than the caller's bound: a slow call, or a clock jump
--   newer            a later release wrote the room, in a format that this library does not know
--   behind           Redis lost writes that the caller has observed; see lineage.check
--   recovering <ms>  the room is in its recovery window for so long; see lineage.check

-- UNKNOWN has the values of the members that a caller leaves out.
local UNKNOWN = { __index = { epoch = 0, version = 0, lineage = '', replays = false, read_only = false,
  outage = 0, latest = 0, clock_jump = 0, trace = '' } }

-- NAMES are the ends of a room's keys behind LOCK, in the order of KEYS.
local NAMES = { 'queue', 'state', 'places', 'sellers', 'seen', 'away', 'ended', 'leases', 'journal', 'here',
  'inbox', 'texts' }

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

-- all_keys returns the KEYS of a call that has the lock key alone; `once` is the name of its ONCE.
local function all_keys(lock, once)
  local keys, of = { lock }, lock:sub(1, -5)
  for i, name in ipairs(NAMES) do keys[i + 1] = of .. name end
  keys[#keys + 1] = of .. once
  return keys
end

-- call executes one verb and returns its reply.
function call(keys, argv)
  if #keys == 1 then keys = all_keys(keys[1], argv[7]) end -- see thin.lua
  LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE =
    unpack(keys, 1, 14)
  OWN = { unpack(keys, 15) }
  settings, args = settings_of(argv[2]), cjson.decode(argv[4])
  caller = setmetatable(cjson.decode(argv[3]), UNKNOWN)
  change, news, memo = {}, {}, { places = {}, new_keys = {}, returned = {} }
  state.read()
  if caller.latest > 0 and NOW > caller.latest then return 'ahead ' .. int(NOW) end
  if room.format > FORMAT then return 'newer' end
  return lineage.check() or verb[argv[1]]()
end
