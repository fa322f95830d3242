-- existence.lua: the beginning of a room that Redis does not know, the sleep of an idle one, and the end of one that is not kept.

local REGISTERED_FOR = 45 * 1000       -- a process registers a room again after so long; less than what index/reschedule.lua keeps (ms)
local FENCE_KEPT = 24 * 60 * 60 * 1000 -- of a room that is not kept, its highest fence (ms)
local ABANDONED = 10 * 60 * 1000       -- a room that is not kept is gone this long after its lease: its waiters have had it ended long before (ms)
local RENEWED = 60 * 1000              -- ends of keys are written again this long before they have to be (ms)
local ABSENCE_KEPT = 60 * 1000         -- (ms)

local function absence_key() return LOCK:sub(1, -5) .. 'blank' end

-- absence_token names the absence of the room. Once the room was begun and lost, or the server has another history, the token is another one:
-- then a process may know the room that could not be heard when the caller asked.
function existence.absence_token()
  local name = redis.call('GET', absence_key()) or int(US)
  redis.call('SET', absence_key(), name, 'PX', int(ABSENCE_KEPT))
  return name .. ':' .. room.history
end

-- forget_absence makes a later absence another one.
function existence.forget_absence() redis.call('DEL', absence_key()) end

-- begin starts the first epoch of a room that nothing is known of. A room that is not kept is written when a session is in it.
local function begin()
  redis.call('DEL', LOCK, QUEUE, SELLERS, SEEN, AWAY, ENDED, HERE)
  if not settings.ephemeral then
    existence.forget_absence()
    redis.call('PERSIST', LEASES)
    redis.call('PERSIST', JOURNAL)
  end
  room.epoch, room.version = math.max(US, room.epoch + 1), 0
  state.set_average(settings.lease, 0)
  room.holds = 0
  room.lineage = lineage.first()
  room.just_begun = settings.ephemeral
  change.room = not settings.ephemeral
  journal.record('epoch')
end

-- lasting lists the keys that get an end when the room falls asleep.
local function lasting() return { QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE } end

-- sleep gives the keys of an idle room an end.
function existence.sleep(retention)
  room.idle_since = NOW
  state.write('room')
  for _, key in ipairs(lasting()) do redis.call('PEXPIRE', key, int(retention)) end
end

-- stay takes back the end that sleep gave.
function existence.stay()
  if room.idle_since == 0 then return end
  for _, key in ipairs(lasting()) do redis.call('PERSIST', key) end
  room.idle_since, change.room = 0, true
end

-- wake makes the room one that is used.
function existence.wake()
  if room.epoch == 0 then begin() end
  if room.idle_since > 0 then existence.stay() end
end

-- unlisted reports whether the index may not have the room, or may look at it only long from now: the process registered it too long ago, or
-- before it fell asleep; or Redis has nothing of the room, and the process has not asked the others under this absence token whether they know
-- it. (A client silently sends a call again, to whatever server is there by then.) The caller registers it then, and calls again.
function existence.unlisted()
  if settings.ephemeral then return false end -- no index has it
  local registered = args.registered
  return registered <= room.idle_since or NOW - registered > REGISTERED_FOR or (room.epoch == 0 and args.begins ~= existence.absence_token())
end

-- register is the reply that has the caller register the room and call again; nothing was done. It has the absence token where there is one.
function existence.register()
  return 'register ' .. reply.view() .. ' ' .. reply.standing('') .. ' ' .. (room.epoch == 0 and existence.absence_token() or '-')
end

-- vanish deletes a room that is not kept, but for its highest fence.
function existence.vanish()
  redis.call('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  memo.places = {}
  redis.call('HSET', STATE, 'room', '{"format":' .. FORMAT .. ',"highest_fence":' .. int(math.max(room.fence, room.highest_fence)) .. '}')
  redis.call('PEXPIRE', STATE, int(FENCE_KEPT))
end

-- keep_longer reports whether all keys of a room that is not kept are to get another end: once a minute, or for a lease that goes on for longer
-- than any before. Keys have an end for when all sessions die without a word.
function existence.keep_longer()
  local ends = NOW + (leases.held() and math.max(room.expires - NOW, 0) or 0)
  if room.renewed_at <= NOW and NOW < room.renewed_at + RENEWED and ends <= room.renewed_till then return false end
  room.renewed_at, room.renewed_till, change.room = NOW, ends + RENEWED, true
  return true
end

-- set_expiry gives all keys of such a room another end, or the new ones alone.
function existence.set_expiry(all)
  local left = room.renewed_till - NOW
  if all then
    redis.call('PEXPIRE', STATE, int(left + FENCE_KEPT))
    memo.new_keys[PLACES] = true
    if line.length() > 0 then memo.new_keys[QUEUE], memo.new_keys[SEEN], memo.new_keys[AWAY] = true, true, true end
  end
  for key in pairs(memo.new_keys) do redis.call('PEXPIRE', key, int(left + ABANDONED)) end
end
