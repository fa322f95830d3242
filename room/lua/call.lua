-- call.lua: one call of the library, from its keys and arguments to its reply.
--
-- KEYS  those that library.lua names, in that order
-- ARGV  1 the verb, 2 the room's settings, 3 what the caller knows (what it does not know is left out), 4 the verb's arguments; 2 to 4 as JSON, see
--       codec.go
-- Every verb's reply is "ok …" or a refusal's code with fields behind it, or a list of such texts. Instead of it, and nothing was done:
--   ahead <ms>  Redis's clock is later than the caller's bound: the call took long, or the clock was stepped ahead
--   newer       a later release wrote the room, in a format that this library does not know
--   behind, recovering <ms>   see lineage.check

-- UNKNOWN is what a caller that does not say so knows.
local UNKNOWN = { __index = { epoch = 0, version = 0, lineage = '', replays = false, read_only = false, thorough = false, outage = 0, latest = 0,
  stepped = 0, trace = '' } }

local rooms_settings, known_settings = {}, 0 -- by their JSON: many calls have the same

-- settings_of decodes the room's settings.
local function settings_of(text)
  local known = rooms_settings[text]
  if not known then
    if known_settings == 100 then rooms_settings, known_settings = {}, 0 end
    known = cjson.decode(text)
    rooms_settings[text], known_settings = known, known_settings + 1
  end
  return known
end

-- short answers where a session joins or leaves and no other is concerned; nil elsewhere.
local function short(name)
  if caller.thorough then return nil end
  if name == 'join' then return uncontended.join() end
  if name == 'leave' then return uncontended.leave() end
end

-- call is what Redis calls.
function call(keys, argv)
  LOCK, QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE, INBOX, TEXTS, ONCE = unpack(keys, 1, 14)
  OWN = { unpack(keys, 15) }
  settings, caller, args = settings_of(argv[2]), setmetatable(cjson.decode(argv[3]), UNKNOWN), cjson.decode(argv[4])
  memo = { places = {}, new_keys = {}, returned = {}, present = false, desk = false }
  state.read()
  if caller.latest > 0 and NOW > caller.latest then return 'ahead ' .. int(NOW) end
  if room.format > FORMAT then return 'newer' end
  local answer = short(argv[1])
  if answer then return answer end
  return lineage.check() or verb[argv[1]]()
end
