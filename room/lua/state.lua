-- state.lua: the room's state: read from STATE when a call begins, and written back once at its end.
--
-- STATE has it as JSON in three fields; `room` has the members of all three. Times are in unix ms of Redis's clock; a member that is absent is 0, false
-- or ''.
-- room:
--   format                     see FORMAT
--   epoch, version, lineage    see lineage.lua; tickets: the last ticket given
--   hold, spread, holds        how long leases are held on average, the spread of that (ms), and how many it was learnt from
--   paused, quiet              support paused the room; since when it is idle and its keys have an end
--   looked, trust              when the room was last brought to its time; until when no session counts as gone
--   doubt                      until when a room that may have lost data answers no call
--   above                      the highest fence that is known, where the lease has a lower one
--   kept_at, kept_till         of a room that is not kept: when its keys got an end last, and how long leases could go on then
-- lease:
--   session, seller, ticket, fence, granted, expires   the lease; session '' = the lock is free, '-' = see ORPHANED
--   over                       when the last lease was over
--   claim, rank                until when the holder has to claim its lease; its rank in the line before, nil = claimed or never to be claimed
--   asking, asked, open        whether the lease asks, how often it did, and how many asks have no answer; see asks.lua
--   ask_after, put_off         from when on it may ask; whether its end was put off for that
--   codes, rejects, last_ask   codes that came though it does not ask; messages that it rejected; when it asked last
-- matching:
--   open_session, open_at, open_other   the party that left the latest open ask behind, when it asked, and when any other party did; up to
--                              `unsure` one of these may have been answered since
--   awaits, awaited            a party that may get one more code, and when it asked last; see asks.await
--   noted, noted_from          asks of between these may be missing by a loss of data; turned, turned_from: since the clock went back;
--                              lost, lost_from (not stored): for any reason

local LOOK_EVERY = 1000 -- how exactly STATE has the time of the last look (ms)

-- ABSENT has the members that are left out where they are 0, false or ''.
local ABSENT = { __index = {
  format = 0, epoch = 0, version = 0, lineage = '', tickets = 0, spread = '0.000', holds = 0, paused = false, idle_since = 0, advanced_at = 0, presence_trusted_from = 0,
  recovers = 0, highest_fence = 0, renewed_at = 0, renewed_till = 0,
  session = '', seller = '', ticket = 0, fence = 0, granted = 0, expires = 0, last_lease_over = 0, claim_by = 0, asking = false, asked = 0, open = 0, ask_after = 0,
  end_extended = false, codes = 0, rejects = 0, last_ask = 0,
  open_party = '', open_at = 0, open_other = 0, maybe_answered_until = 0, second_code_party = '', second_code_asked_at = 0, lost_at = 0, lost_from = 0, clock_back_at = 0, clock_back_from = 0,
} }

-- member is a member of a field; '' where it is absent.
local function member(name, v)
  if v == 0 or not v then return '' end
  return ',"' .. name .. '":' .. (v == true and 'true' or int(v))
end

-- json makes the fields of STATE.
local json = {}

function json.room()
  local r = room
  return '{"format":' .. FORMAT .. ',"epoch":' .. int(r.epoch) .. ',"version":' .. int(r.version) .. ',"lineage":"' .. r.lineage .. '","tickets":' ..
    int(r.tickets) .. ',"hold":"' .. r.hold .. '","spread":"' .. r.spread .. '","holds":' .. int(r.holds) .. ',"advanced_at":' .. int(r.advanced_at) ..
    (r.paused and ',"paused":true' or '') .. member('presence_trusted_from', r.presence_trusted_from) .. member('idle_since', r.idle_since) .. member('recovers', r.recovers) ..
    member('highest_fence', r.highest_fence) .. member('renewed_at', r.renewed_at) .. member('renewed_till', r.renewed_till) .. '}'
end

-- codes_json has what the lease has to do with codes.
local function codes_json()
  local r = room
  return member('asking', r.asking) .. member('asked', r.asked) .. member('open', r.open) .. member('ask_after', r.ask_after) ..
    member('end_extended', r.end_extended) .. member('codes', r.codes) .. member('rejects', r.rejects) .. member('last_ask', r.last_ask)
end

function json.lease()
  local r = room
  if r.session == '' then return '{"fence":' .. int(r.fence) .. member('last_lease_over', r.last_lease_over) .. '}' end
  return '{"session":"' .. r.session .. '","seller":"' .. r.seller .. '","ticket":' .. int(r.ticket) .. ',"fence":' .. int(r.fence) .. ',"granted":' ..
    int(r.granted) .. ',"expires":' .. int(r.expires) .. member('last_lease_over', r.last_lease_over) .. member('claim_by', r.claim_by) ..
    (r.rank_until_claimed and ',"rank_until_claimed":"' .. r.rank_until_claimed .. '"' or '') .. codes_json() .. '}'
end

function json.matching()
  local r = room
  return '{"open_party":"' .. r.open_party .. '","second_code_party":"' .. r.second_code_party .. '"' .. member('open_at', r.open_at) .. member('open_other', r.open_other) ..
    member('maybe_answered_until', r.maybe_answered_until) .. member('second_code_asked_at', r.second_code_asked_at) .. member('lost_at', r.lost_at) .. member('lost_from', r.lost_from) ..
    member('clock_back_at', r.clock_back_at) .. member('clock_back_from', r.clock_back_from) .. '}'
end

-- write writes fields of STATE now.
function state.write(...)
  local list = {}
  for i, field in ipairs({ ... }) do list[2 * i - 1], list[2 * i] = field, json[field]() end
  redis.call('HSET', STATE, unpack(list))
end

-- set_average sets how long leases are held and the spread of that (ms), as text.
function state.set_average(hold, spread)
  room.hold, room.spread = string.format('%.3f', math.min(hold, settings.lease)), string.format('%.3f', math.min(spread, settings.lease))
end

-- load_losses sets from when until when asks may be missing: by a loss, since the clock went back, or since it was stepped ahead.
local function load_losses()
  room.asks_missing_until, room.asks_missing_from = room.lost_at, room.lost_from
  if room.clock_back_at > 0 then
    room.asks_missing_from = room.clock_back_at > room.asks_missing_until and clock.since(room.clock_back_from, room.asks_missing_until, room.asks_missing_from)
      or clock.since(room.asks_missing_from, room.clock_back_at, room.clock_back_from)
    room.asks_missing_until = math.max(room.asks_missing_until, room.clock_back_at)
  end
  if caller.stepped > room.asks_missing_until then room.asks_missing_until, room.asks_missing_from = caller.stepped, 0 end -- by then an ask may be of any age
end

-- read reads STATE and the time. It looks for the lock key before it reads the time: then a key that expired is past its end, and one that is missing
-- before its end was deleted by hand.
function state.read()
  local texts = redis.call('HMGET', STATE, 'room', 'lease', 'matching')
  room = setmetatable(texts[1] and cjson.decode(texts[1]) or {}, ABSENT)
  if not room.hold then state.set_average(settings.lease, 0) end
  for i = 2, 3 do
    for name, value in pairs(texts[i] and cjson.decode(texts[i]) or {}) do room[name] = value end
  end
  room.lock_exists = room.session ~= '' and redis.call('EXISTS', LOCK) == 1
  clock.read()
  if clock.is_ahead(room.presence_trusted_from) then room.presence_trusted_from = 0 end
  if room.hold + 0 > settings.lease or room.spread + 0 > settings.lease then state.set_average(room.hold, room.spread) end
  load_losses()
  change = { any = false, room = false, lease = false, codes = false, matching = false }
  news = { joined = false, ended = false, moved = false, notes = false, missed = false, records = false, rank = false, reset = false }
end

-- write_changes writes the lease and what has changed of the state.
local function write_changes()
  if settings.ephemeral and not leases.held() and not room.paused and line.length() == 0 then return existence.vanish() end
  if change.lease and leases.held() then
    redis.call('SET', LOCK, leases.json(room.session, room.seller, room.ticket, room.fence, room.granted, room.expires), 'PXAT', int(room.expires))
  elseif change.lease then
    redis.call('DEL', LOCK)
  end
  local renews = settings.ephemeral and existence.keep_longer()
  local fields = {}
  if change.any or change.room then fields[1] = 'room' end
  if change.lease or change.codes then fields[#fields + 1] = 'lease' end
  if change.matching then fields[#fields + 1] = 'matching' end
  if #fields > 0 then state.write(unpack(fields)) end
  if settings.ephemeral then existence.set_expiry(renews) end
end

-- commit writes what has changed, journals it and publishes it in one event. Without a change it does nothing.
-- The version grows by one however much happened: a handoff is one change.
function state.commit()
  if change.any then room.version = room.version + 1 end
  if room.epoch > 0 and NOW - room.advanced_at >= LOOK_EVERY and (change.any or not room.just_begun) then room.advanced_at, change.room = NOW, true end
  if change.any or change.room or change.codes or change.matching or settings.ephemeral and next(memo.new_keys) then write_changes() end
  journal.append()
  event.publish() -- last: a user without the right to publish is refused here, and what is written is written whole
end
