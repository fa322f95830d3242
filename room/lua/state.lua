-- state.lua: the room's state: read from STATE when a call begins, and written back once at its end.
--
-- STATE has it as JSON in its field room. A member that is absent is 0, false or ''. "Party" is a session
-- together with its seller, see leases.lua. "Until" and "at" are times in ms.
--
-- Of the room:
--   format                     see FORMAT
--   epoch, version, lineage    see lineage.lua
--   tickets                    the last ticket given
--   hold, spread, holds        average time that leases are held (ms), its spread (ms), from how many leases;
--                              see reset_average
--   paused                     support paused the room
--   idle_since                 since when the room is idle and its keys expire
--   advanced_at                when the room was last brought up to date, exact to RECORDED_EVERY
--   presence_trusted_from      until then no session counts as gone
--   recovers                   until then the room answers no call, since it may have lost data
--   highest_fence              the highest fence that is known, if the lease has a lower one
--   renewed_at                 of an ephemeral room: when its keys' expiry was last renewed
--   renewed_till               a lease that lasts longer needs another expiry
-- Of the lease; fence and last_lease_over stay while the lock is free:
--   session, seller            the holder; session '' = the lock is free, '-' = see ORPHANED
--   ticket, fence, granted, expires   its ticket, and the lease; while the lock is free, the last fence
--   last_lease_over            when the last lease was over
--   claim_by                   until when the holder has to claim its lease, 0 = it need not
--   rank_until_claimed         its rank in the line, until it claims the lease; nil = it need not (any more)
--   asking, asked, open        whether the lease asks, how often it did, how many asks are open; see asks.lua
--   last_ask, ask_after        when it asked last; from when it may ask
--   end_extended               whether the lease was extended because it may not ask yet
--   codes, rejects             codes that came though it does not ask; messages that its session rejected
-- Of matching:
--   open_party, open_at        the party whose lease ended last with an open ask, and when it ended
--   open_other                 when the last lease of any other party ended with an open ask
--   maybe_answered_until       an ask of a lease that ended before then may have an answer by now
--   second_code_party          a party that may get one more code; see asks.set_second_code
--   second_code_at             when the lease of its last ask ended, or when it asked while that is live
--   lost_from, lost_at         asks between these times may be missing, by a loss of data
--   clock_back_from, clock_back_at   asks between these may be missing, as the clock went back
-- Members that are not stored, since each call finds them:
--   history                    the server's history; see lineage.lua
--   lock_exists                whether the lock key exists; false once it expired or was deleted by hand
--   asks_missing_from, asks_missing_until   asks between these times may be missing, for any reason
--   thin                       the holder of a thin lock without a state as yet; see existence.recall
--   just_begun                 this call begins an ephemeral room, which is written when a session is in it
--   waiting                    how many sessions wait; see line.length
--   joined_last                the session that this call put at the end of the line
--   grant_channel              the new holder's own channel; see event.publish
--   ended_session, ended_outcome   the lease that is over while Redis takes no writes; see advance.lua

local RECORDED_EVERY = 1000 -- how exactly STATE has advanced_at (ms)

-- ABSENT has the values of the members that STATE leaves out: 0, false or ''.
local ABSENT = { __index = {
  format = 0, epoch = 0, version = 0, lineage = '', tickets = 0, holds = 0, paused = false,
  idle_since = 0, advanced_at = 0, presence_trusted_from = 0, recovers = 0, highest_fence = 0, renewed_at = 0,
  renewed_till = 0,
  session = '', seller = '', ticket = 0, fence = 0, granted = 0, expires = 0, last_lease_over = 0,
  claim_by = 0, asking = false, asked = 0, open = 0, ask_after = 0, end_extended = false, codes = 0,
  rejects = 0, last_ask = 0,
  open_party = '', open_at = 0, open_other = 0, maybe_answered_until = 0,
  second_code_party = '', second_code_at = 0,
  lost_at = 0, lost_from = 0, clock_back_at = 0, clock_back_from = 0,
} }

-- member returns a JSON member; '' if it is absent.
local function member(name, v)
  if v == 0 or not v then return '' end
  return ',"' .. name .. '":' .. (v == true and 'true' or int(v))
end

-- lease_json returns the members of the lease.
local function lease_json(r)
  return ',"session":"' .. r.session .. (r.seller ~= '' and '","seller":"' .. r.seller or '') ..
    '","ticket":' .. int(r.ticket) .. ',"granted":' .. int(r.granted) .. ',"expires":' .. int(r.expires) ..
    member('claim_by', r.claim_by) ..
    (r.rank_until_claimed and ',"rank_until_claimed":"' .. r.rank_until_claimed .. '"' or '') ..
    member('asking', r.asking) .. member('asked', r.asked) .. member('open', r.open) ..
    member('ask_after', r.ask_after) .. member('end_extended', r.end_extended) .. member('codes', r.codes) ..
    member('rejects', r.rejects) .. member('last_ask', r.last_ask)
end

-- matching_json returns the members that concern matching.
local function matching_json(r)
  return (r.open_party ~= '' and ',"open_party":"' .. r.open_party .. '"' or '') ..
    (r.second_code_party ~= '' and ',"second_code_party":"' .. r.second_code_party .. '"' or '') ..
    member('open_at', r.open_at) .. member('open_other', r.open_other) ..
    member('maybe_answered_until', r.maybe_answered_until) ..
    member('second_code_at', r.second_code_at) ..
    member('lost_at', r.lost_at) .. member('lost_from', r.lost_from) ..
    member('clock_back_at', r.clock_back_at) .. member('clock_back_from', r.clock_back_from)
end

-- json returns the whole state.
local function json()
  local r = room
  return '{"format":' .. FORMAT .. ',"epoch":' .. int(r.epoch) .. ',"version":' .. int(r.version) ..
    (r.lineage ~= '' and ',"lineage":"' .. r.lineage .. '"' or '') .. ',"tickets":' .. int(r.tickets) ..
    (r.holds > 0 and ',"hold":"' .. r.hold .. '","spread":"' .. r.spread .. '","holds":' .. int(r.holds)
      or '') .. ',"advanced_at":' .. int(r.advanced_at) ..
    (r.paused and ',"paused":true' or '') .. member('presence_trusted_from', r.presence_trusted_from) ..
    member('idle_since', r.idle_since) .. member('recovers', r.recovers) ..
    member('highest_fence', r.highest_fence) .. member('renewed_at', r.renewed_at) ..
    member('renewed_till', r.renewed_till) .. member('fence', r.fence) ..
    member('last_lease_over', r.last_lease_over) .. (r.session ~= '' and lease_json(r) or '') ..
    matching_json(r) .. '}'
end

-- write writes the state now.
function state.write() command('HSET', STATE, 'room', json()) end

-- reset_average sets how long leases are held to a whole lease, while no lease has ended.
function state.reset_average()
  room.hold, room.spread, room.holds = int(settings.lease) .. '.000', '0.000', 0
end

-- set_average sets how long leases are held and the spread of that (ms),
-- as text. Neither is above a whole lease.
function state.set_average(hold, spread)
  room.hold = format('%.3f', min(hold, settings.lease))
  room.spread = format('%.3f', min(spread, settings.lease))
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
  room.asks_missing_from, room.asks_missing_until = from, till
end

-- read reads STATE and the time.
-- It looks for the lock key before it reads the time. So a lock key that expired is past its end, and one
-- that is missing before its end was deleted by hand.
function state.read()
  local text = command('HGET', STATE, 'room')
  room = setmetatable(text and cjson.decode(text) or {}, ABSENT)
  if room.holds == 0 then
    state.reset_average()
  elseif room.hold + 0 > settings.lease or room.spread + 0 > settings.lease then
    state.set_average(room.hold, room.spread)
  end
  if not text and settings.ephemeral then existence.recall() end
  room.lock_exists = room.session ~= '' and command('EXISTS', LOCK) == 1
  clock.read()
  if room.thin then room.epoch = US end
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
  if room.thin then existence.inflate() end
  if change.lease then write_lock() end
  local renews = settings.ephemeral and existence.renew_expiry()
  if changed() then state.write() end
  if settings.ephemeral then existence.set_expiry(renews) end
end

-- commit writes what has changed, journals it and publishes it in one event; without a change it does
-- nothing. The version grows by one, however much changed: a handoff is one change. The event comes last: if
-- a Redis user may not publish, Redis refuses only the event, and all else is written.
function state.commit()
  if change.any then room.version = room.version + 1 end
  local unwritten = room.just_begun or room.thin
  if room.epoch > 0 and NOW - room.advanced_at >= RECORDED_EVERY and (change.any or not unwritten) then
    room.advanced_at, change.room = NOW, true
  end
  if changed() or settings.ephemeral and next(memo.new_keys) then write_changes() end
  journal.append()
  event.publish()
end
