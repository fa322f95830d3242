-- state.lua: the room's state: read from STATE when a call begins, and written back once at its end.
--
-- Fields of `room`, times in unix ms of Redis's clock (0 = never or none):
--   epoch, version, lineage    see lineage.lua; tickets: the last ticket given
--   session, seller, ticket, fence, granted, expires   the lease; session '' = the lock is free, '-' = see ORPHANED
--   over                       when the last lease was over
--   hold, spread, holds        how long leases are held on average, the spread of that (ms), and how many it was learnt from
--   paused, quiet              support paused the room; since when it is idle and its keys have an end
--   looked, trust              when the room was last brought to its time; until when no session counts as gone
--   claim, rank                until when the holder has to claim its lease; its rank in the line before, nil = claimed or never to be claimed
--   asking, asked, open        the lease: whether it asks, how often it did, and how many asks have no answer; see asks.lua
--   ask_after, put_off         from when on it may ask; whether its end was put off for that
--   codes, rejects, last_ask   codes that came though it does not ask; messages that it rejected; when it asked last
--   open_session, open_at, open_other   the party that left the latest open ask behind, when it asked, and when any other party did; up to
--                              `unsure` one of these may have been answered since
--   awaits, awaited            a party that may get one more code, and when it asked last; see asks.await
--   lost, lost_from            asks may be missing from lost_from until lost, for any reason; noted, noted_from: by a loss of data;
--                              turned, turned_from: since the clock went back
--   doubt                      until when a room that may have lost data answers no call
--   above                      the highest fence that is known, where the live lease has a lower one

local LOOK_EVERY = 1000 -- how exactly STATE has the time of the last look (ms)
local NO_CODES, NONE_OPEN = '0|0|0|0|0|0|0|0', '|0|0' -- as `codes` and `unanswered` are stored where there is nothing

-- set_average sets how long leases are held and the spread of that (ms), and both as text.
function state.set_average(hold, spread)
  room.hold, room.spread = hold, spread
  room.hold_text, room.spread_text = string.format('%.3f', hold), string.format('%.3f', spread)
end

local function load_codes()
  local asking, asked, open, after, code, off, rejects, last = stored.codes:match('^(%d)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)$')
  room.asking, room.asked, room.open, room.ask_after = asking == '1', (asked or 0) + 0, (open or 0) + 0, (after or 0) + 0
  room.codes, room.put_off, room.rejects, room.last_ask = (code or 0) + 0, off == '1', (rejects or 0) + 0, (last or 0) + 0
end

-- load_losses reads from when until when asks may be missing: by a loss, since the clock went back, or since it was stepped ahead.
local function load_losses()
  room.noted, room.noted_from = room.lost, room.lost_from
  room.turned, room.turned_from = (stored.turned or 0) + 0, (stored.turned_from or 0) + 0
  if room.turned > 0 then
    room.lost_from = room.turned > room.lost and clock.since(room.turned_from, room.lost, room.lost_from)
      or clock.since(room.lost_from, room.turned, room.turned_from)
    room.lost = math.max(room.lost, room.turned)
  end
  if caller.stepped > room.lost then room.lost, room.lost_from = caller.stepped, 0 end -- by then an ask may be of any age
end

-- load_values makes `room` of the stored fields. A program before formats let each lease weigh a fifth and knew no spread.
local function load_values()
  local v, r = stored, room
  r.epoch, r.version, r.tickets, r.fence = whole(v.epoch or '0'), (v.version or 0) + 0, (v.tickets or 0) + 0, whole(v.fence or '0')
  r.hold, r.spread, r.holds = (v.hold or settings.lease) + 0, (v.spread or 0) + 0, (v.holds or (v.hold and 3 or 0)) + 0
  r.hold_text, r.spread_text, r.paused = v.hold, v.spread, v.paused == '1'
  r.session, r.seller, r.ticket = v.session or '', v.seller or '', whole(v.ticket or '0')
  r.granted, r.expires, r.over = whole(v.granted or '0'), whole(v.expires or '0'), whole(v.over or '0')
  r.quiet, r.looked, r.trust = (v.quiet or 0) + 0, (v.looked or 0) + 0, (v.trust or 0) + 0
  r.lost, r.lost_from, r.above, r.unsure = (v.lost or 0) + 0, (v.lost_from or 0) + 0, (v.above or 0) + 0, (v.unsure or 0) + 0
  r.format, r.lineage, r.doubt = (v.format or 0) + 0, v.lineage or '', (v.doubt or 0) + 0
  r.claim, r.claim_text, r.rank = 0, v.claim or '', nil
  leases.reset_codes()
  r.open_session, r.open_at, r.open_other, r.awaits, r.awaited = '', 0, 0, '', 0
  r.line, r.channel, r.begun, r.last, r.over_session, r.over_outcome = nil, nil, nil, nil, nil, nil
  if not (v.hold and v.spread) or room.hold > settings.lease or room.spread > settings.lease then
    state.set_average(math.min(room.hold, settings.lease), math.min(room.spread, settings.lease))
  end
  if room.session ~= '' and (v.codes or NO_CODES) ~= NO_CODES then load_codes() end
  if (v.unanswered or NONE_OPEN) ~= NONE_OPEN then
    local session, at, other = v.unanswered:match('^([^|]*)|(%d+)|(%d+)$')
    room.open_session, room.open_at, room.open_other = session or '', (at or 0) + 0, (other or 0) + 0
  end
  if v.awaited then
    local at, session = v.awaited:match('^(%d+)|(.*)$')
    room.awaits, room.awaited = session, at + 0
  end
  if clock.is_ahead(room.trust) then room.trust = 0 end
  load_losses()
  if room.claim_text ~= '' then
    local fence, by, rank = v.claim:match('^(%d+)|(%d+)|(.+)$')
    if fence + 0 == room.fence and room.session ~= '' then room.claim, room.rank = by + 0, rank end
  end
end

-- read reads STATE, the time, and whether the lock key is there: before the time, so that a key that expired is past its end, and one
-- that is missing before its end was deleted by hand.
function state.read()
  -- All of it at once takes less than naming the fields; and a table that is large enough less than one that grows.
  stored = { epoch = false, version = false, tickets = false, fence = false, hold = false, spread = false, holds = false, paused = false,
    session = false, seller = false, ticket = false, granted = false, expires = false, over = false, looked = false, trust = false, format = false,
    lineage = false, doubt = false, claim = false, codes = false, unanswered = false }
  local fields = redis.call('HGETALL', STATE)
  for i = 1, #fields, 2 do stored[fields[i]] = fields[i + 1] end
  local there = (stored.session or '') ~= '' and redis.call('EXISTS', LOCK) == 1
  clock.read()
  return there
end

-- load makes `room` of what was read.
function state.load(there)
  load_values()
  room.there = there
  room.writes = (settings.claim_within > 0 or room.format > 1) and 2 or 1 -- without claims, what a program before claims can read
  change = { any = false, lease = false, codes = false, trust = false, average = false }
  news = { joined = false, ended = false, moved = false, notes = false, missed = false, records = false, rank = false, reset = false }
end

local changed, changes = {}, 0 -- field and value in turn, and how many of both

-- put has a field of STATE written, where it is another than in Redis.
local function put(name, value)
  if stored[name] == value then return end
  stored[name], changed[changes + 1], changed[changes + 2] = value, name, value
  changes = changes + 2
end

-- write_fields writes the fields of STATE that have changed; `looked` has the time of this look written too.
local function write_fields(looked)
  changes = 0
  if room.begun then
    put('epoch', int(room.epoch)); put('lineage', room.lineage)
  end
  if looked then
    put('looked', int(math.max(NOW, room.looked))); put('trust', int(room.trust)) -- turn_back notes a clock that went back
  end
  if room.format ~= room.writes then put('format', int(room.writes)) end
  local claim = room.rank and string.format('%d|%d|%s', room.fence, room.claim, room.rank) or ''
  if claim ~= room.claim_text then put('claim', claim) end
  if change.any then
    put('version', int(room.version)); put('tickets', int(room.tickets)); put('paused', room.paused and '1' or '0')
  end
  if change.lease then
    put('session', room.session); put('seller', room.seller); put('ticket', int(room.ticket)); put('granted', int(room.granted))
    put('expires', int(room.expires)); put('over', int(room.over)); put('fence', int(room.fence))
  end
  if change.average then
    put('hold', room.hold_text); put('spread', room.spread_text); put('holds', int(room.holds))
  end
  if change.codes then
    put('codes', (room.asking and '1|' or '0|') .. int(room.asked) .. '|' .. int(room.open) .. '|' .. int(room.ask_after) .. '|' ..
      int(room.codes) .. (room.put_off and '|1|' or '|0|') .. int(room.rejects) .. '|' .. int(room.last_ask))
    if room.awaited > 0 or stored.awaited then put('awaited', int(room.awaited) .. '|' .. room.awaits) end
    put('unanswered', room.open_session .. '|' .. int(room.open_at) .. '|' .. int(room.open_other))
  end
  if changes > 0 then redis.call('HSET', STATE, unpack(changed, 1, changes)) end
end

-- write writes the lease and the state; `looked` has the time of this look written too.
local function write(looked)
  if settings.ephemeral and not leases.held() and not room.paused and line.length() == 0 then return existence.vanish() end
  if change.lease and leases.held() then
    redis.call('SET', LOCK, leases.json(room.session, room.seller, room.ticket, room.fence, room.granted, room.expires), 'PXAT', int(room.expires))
  elseif change.lease then
    redis.call('DEL', LOCK)
  end
  write_fields(looked)
  if settings.ephemeral then existence.set_expiry() end
end

-- commit writes what has changed, journals it and publishes it in one event. Without a change it does nothing.
-- The version grows by one however much happened: a handoff is one change.
function state.commit()
  if change.any then room.version = room.version + 1 end
  local looked = room.epoch > 0 and (change.trust or NOW - room.looked >= LOOK_EVERY)
  if change.any or change.codes then
    write(looked)
  else
    if looked then redis.call('HSET', STATE, 'looked', int(math.max(NOW, room.looked)), 'trust', int(room.trust)) end
    if settings.ephemeral and next(memo.new_keys) then existence.set_expiry() end
  end
  journal.append()
  event.publish() -- last: a user without the right to publish is refused here, and what is written is written whole
end
