-- state.lua: the room's state: read from STATE when a call begins, and written back once at its end.
--
-- STATE has it as JSON in its field room: wire.room, wire.lease and wire.holder while the lock is held, and
-- wire.state; the structs in room/wire/room.go have a comment for each member. While the lock is free,
-- `fence` is the last one and `session` is ''; `session` '-' is ORPHANED. `hold` and `spread` are in ns.
--
-- While a lease ends it also has `ended` and `asks`: when it ended, and its asks.

local RECORDED_EVERY = 1000 -- how exactly STATE has advanced_at (ms)
local NS = 1000 * 1000      -- of a millisecond

-- room_json and lease_json return the members of wire.room and wire.lease, which the state, the event and the
-- reply of a call have in common.
function state.room_json()
  memo.room_json = memo.room_json or wire.room(room)
  return memo.room_json
end

function state.lease_json()
  memo.lease_json = memo.lease_json or wire.lease(room)
  return memo.lease_json
end

-- write writes the state now.
function state.write()
  room.format = FORMAT
  local held = leases.held()
  command('HSET', STATE, 'room', '{' .. state.room_json() .. (held and ',' or ',"fence":') ..
    (held and state.lease_json() or int(room.fence)) .. (held and ',' or '') ..
    (held and wire.holder(room) or '') .. ',' .. wire.state(room) .. '}')
end

-- reset_average sets how long leases are held to a whole lease, while no lease has ended.
function state.reset_average() room.hold, room.spread, room.holds = settings.lease * NS, 0, 0 end

-- set_average sets how long leases are held and the spread of that (ns). Neither is above a whole lease.
function state.set_average(hold, spread)
  local most = settings.lease * NS
  room.hold, room.spread = floor(min(hold, most) + 0.5), floor(min(spread, most) + 0.5)
end

-- load_missing_asks sets from when until when asks may be missing.
-- Asks may be missing because data was lost, or because the clock went back or jumped ahead.
local function load_missing_asks()
  local from, till = room.lost_from, room.lost_at
  if room.clock_back_at > 0 then
    from = room.clock_back_at > till and clock.missing_from(room.clock_back_from, till, from)
      or clock.missing_from(from, room.clock_back_at, room.clock_back_from)
    till = max(till, room.clock_back_at)
  end
  if rare.clock_jump > till then from, till = 0, rare.clock_jump end -- earlier asks may be of any age
  memo.asks_missing_from, memo.asks_missing_until = from, till
end

-- read reads STATE and the time.
-- It looks for the lock key before it reads the time. So a lock key that expired is past its end, and one
-- that is missing before its end was deleted by hand.
function state.read()
  local text = command('HGET', STATE, 'room')
  room = wire.read_state(text or '{}')
  if room.holds == 0 then
    state.reset_average()
  elseif max(room.hold, room.spread) > settings.lease * NS then
    state.set_average(room.hold, room.spread)
  end
  if not text and settings.ephemeral then existence.recall() end
  local held = leases.held()
  local both = held and command('EXISTS', LOCK, PLACES) == 2
  memo.lock_exists = both or held and command('EXISTS', LOCK) == 1
  memo.places_lost = held and not both and places.lost()
  clock.read()
  if memo.thin then room.epoch = US end
  if clock.is_ahead(room.presence_trusted_from) then room.presence_trusted_from = 0 end
  load_missing_asks()
end

-- write_lock writes the lease to the lock key, or deletes the key if the lock is free.
local function write_lock()
  if not leases.held() then return command('DEL', LOCK) end
  local text = leases.json(room.session, room.seller, room.ticket, room.fence, room.granted, room.expires)
  command('SET', LOCK, text, 'PXAT', int(room.expires))
end

-- changed reports whether the state has changed.
local function changed()
  return change.any or change.room or change.lease or change.codes or change.matching
end

-- write_changes writes the lease and what has changed of the state.
local function write_changes()
  if settings.ephemeral and not leases.held() and not room.paused and line.length() == 0 then
    return existence.delete()
  end
  if memo.thin then existence.inflate() end
  if change.lease then write_lock() end
  local renews = settings.ephemeral and existence.renew_expiry()
  if changed() then state.write() end
  if settings.ephemeral then existence.set_expiry(renews) end
end

-- commit writes what has changed, journals it and publishes it in one event; without a change, or while Redis
-- takes no writes, it does nothing. The version grows by one, however much changed: a handoff is one change.
-- The event comes last: if a Redis user may not publish, Redis refuses only the event, and all else is
-- written.
function state.commit()
  if rare.read_only then return end
  if change.any then room.version = room.version + 1 end
  memo.room_json, memo.lease_json = nil, nil
  local unwritten = memo.just_begun or memo.thin
  if room.epoch > 0 and NOW - room.advanced_at >= RECORDED_EVERY and (change.any or not unwritten) then
    room.advanced_at, change.room = NOW, true
  end
  if changed() or settings.ephemeral and next(memo.new_keys) then write_changes() end
  journal.append()
  event.publish()
end
