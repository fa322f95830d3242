-- existence.lua: how a room begins, how an idle one falls asleep, and how an ephemeral one ends.
--
-- An ephemeral room (settings.ephemeral) is a lock of the Go library: it is in no index, and its
-- keys are deleted when its last place ends. What is left is a free lock, or a thin one: see thin.lua.

local REGISTERED_FOR = 45 * 1000       -- how long a process's registration of a room counts (ms);
                                       -- index/reschedule.lua lists it for longer
local ABANDONED = 10 * 60 * 1000       -- how long after its lease an ephemeral room's other keys expire (ms);
                                       -- its waiters are dropped long before
local RENEWED = 60 * 1000              -- how often an expiry is renewed; it lasts longer by as much (ms)
local ABSENCE_KEPT = 60 * 1000         -- how long an absence token is kept (ms)

local function absence_key() return LOCK:sub(1, -5) .. 'blank' end

-- absence_token returns a token that names the absence of the room.
-- The token changes if the room was begun and lost since, or if the server has another history. Then a
-- process may know the room that did not when the caller waited for replays of it.
function existence.absence_token()
  local token = command('GET', absence_key()) or int(US)
  command('SET', absence_key(), token, 'PX', int(ABSENCE_KEPT))
  return token .. ':' .. memo.history
end

-- forget_absence gives a later absence of the room another token.
function existence.forget_absence() command('DEL', absence_key()) end

-- begin starts the first epoch of a room that Redis does not know.
-- An ephemeral room is written only when a session is in it.
local function begin()
  command('DEL', LOCK, QUEUE, SELLERS, SEEN, AWAY, ENDED, HERE)
  if not settings.ephemeral then
    existence.forget_absence()
    command('PERSIST', LEASES)
    command('PERSIST', JOURNAL)
  end
  room.epoch, room.version = max(US, room.epoch + 1), 0
  state.reset_average()
  room.lineage = lineage.initial()
  memo.just_begun = settings.ephemeral
  change.room = not settings.ephemeral
  journal.record('epoch')
end

-- lasting lists the keys that expire once the room is asleep.
local function lasting()
  return { QUEUE, STATE, PLACES, SELLERS, SEEN, AWAY, ENDED, LEASES, JOURNAL, HERE }
end

-- sleep makes the keys of an idle room expire after `retention` (ms).
function existence.sleep(retention)
  room.idle_since, change.room = NOW, true
  for _, key in ipairs(lasting()) do command('PEXPIRE', key, int(retention)) end
end

-- cancel_sleep removes the expiry of the keys of a room that was asleep.
function existence.cancel_sleep()
  if room.idle_since == 0 then return end
  for _, key in ipairs(lasting()) do command('PERSIST', key) end
  room.idle_since, change.room = 0, true
end

-- wake begins a room that Redis does not know, and ends the sleep of one that it knows.
function existence.wake()
  if room.epoch == 0 then begin() end
  if room.idle_since > 0 then existence.cancel_sleep() end
end

-- unlisted reports whether the caller has to register the room in the index, and to call again.
-- It has to if it registered the room too long ago, or before the room fell asleep. It also has to if Redis
-- does not know the room and the caller did not wait for replays under the present absence token: its client
-- may have sent the call again, to another server than before.
function existence.unlisted()
  if settings.ephemeral then return false end -- no index has it
  local registered = caller.registered
  return registered <= room.idle_since or NOW - registered > REGISTERED_FOR
    or (room.epoch == 0 and caller.absence ~= existence.absence_token())
end

-- register returns the reply that makes the caller register the room and call again.
-- The verb is not executed. The reply has the absence token if Redis does not know the room.
function existence.register()
  return 'register', nil, room.epoch == 0 and '"absence":"' .. existence.absence_token() .. '"' or nil
end

-- delete deletes an ephemeral room, but for its highest fence.
function existence.delete()
  command('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  memo.places = {}
  local fence = int(max(room.fence, room.highest_fence))
  command('SET', thin.fence_key(LOCK), fence, 'PX', int(thin.fence_kept))
end

-- recall sets what is known of an ephemeral room without a state: the highest fence, and the lease of a thin
-- lock. The room's first epoch begins with this call. Nothing is written unless the call changes something.
function existence.recall()
  local text = thin.text(LOCK)
  room.highest_fence = thin.highest_fence(LOCK) or 0
  local session, ticket, fence, granted, expires = thin.read(text or '')
  if not session or command('EXISTS', PLACES, QUEUE) > 0 then return end
  memo.thin, room.version, room.tickets, room.advanced_at = session, 1, ticket, granted
  room.session, room.ticket, room.fence, room.granted, room.expires = session, ticket, fence, granted, expires
  memo.places[session] = wire.new_stored_place({ live = true, ticket = ticket, joined = granted,
    lease = expires - granted })
end

-- inflate writes what recall has set, before the first change of the room is written.
function existence.inflate()
  local p = memo.places[memo.thin]
  if p and p.live then command('HSET', PLACES, memo.thin, wire.stored_place(p)) end
  memo.thin, change.room, change.lease = nil, true, true
end

-- renew_expiry reports whether all keys of an ephemeral room need another expiry. They do once a minute, and
-- for a lease that lasts longer than any before. The keys expire in case the programs of all its sessions
-- die.
function existence.renew_expiry()
  local ends = NOW + (leases.held() and max(room.expires - NOW, 0) or 0)
  local recently = room.renewed_at <= NOW and NOW < room.renewed_at + RENEWED
  if recently and ends <= room.renewed_till then return false end
  room.renewed_at, room.renewed_till, change.room = NOW, ends + RENEWED, true
  return true
end

-- set_expiry gives all keys of an ephemeral room another expiry, or only those that this call has made.
function existence.set_expiry(all)
  local left = room.renewed_till - NOW
  if all then
    command('PEXPIRE', STATE, int(left + thin.fence_kept))
    memo.new_keys[PLACES] = true
    if line.length() > 0 then
      memo.new_keys[QUEUE], memo.new_keys[SEEN], memo.new_keys[AWAY] = true, true, true
    end
  end
  for key in pairs(memo.new_keys) do command('PEXPIRE', key, int(left + ABANDONED)) end
end
