-- clock.lua: Redis's clock, and what holds where it went back or where Redis was away.

local SETTLING = 3 * 1000 -- this long after an outage every replica has said again which browsers are connected (ms)
local TURNED = 1000       -- a clock that goes back by less was not set (ms)

-- read sets the time of this call.
function clock.read()
  local now = redis.call('TIME')
  US = now[1] * 1000000 + now[2]
  NOW = math.floor(US / 1000)
end

-- of_room is the room's time: it never goes back behind what happened in the room, though Redis's clock may in a failover.
function clock.of_room() return math.max(NOW, room.granted, room.last_lease_over, room.last_ask) end

-- since returns from when on asks may be missing: they are from `from` on until now, and from `lost_from` until `lost`.
-- A message that comes late may have been sent before both.
function clock.since(from, lost, lost_from)
  return lost > 0 and NOW - lost < settings.leases_kept and math.min(from, lost_from) or from
end

-- suspend_judgement lets no session count as gone for `ms`: Redis was away, and no replica could say which browsers are connected.
-- A holder that has to claim its lease gets the whole time again.
function clock.suspend_judgement(ms)
  local till = NOW + math.min(ms, SETTLING)
  if ms > 0 and till > room.presence_trusted_from then
    room.presence_trusted_from, change.room = till, true
    if room.claim_by > 0 then leases.claim_by(till - SETTLING + settings.claim_within) end
  end
end

-- after_outage suspends judgement after an outage or a step ahead of the clock: a step is no time that a session was gone for.
function clock.after_outage()
  local left = math.max(caller.outage, caller.stepped) + SETTLING - NOW
  if left > 0 then clock.suspend_judgement(left) end
end

-- is_ahead reports whether a moment lies further ahead than an outage can put it: then the clock went back.
function clock.is_ahead(at) return at > NOW + SETTLING end

-- turn_back moves what lies ahead to a clock that went back, so that nothing takes longer for it. The times of leases and asks stay, or two
-- leases would overlap: until the clock has been there again, and a quarantine longer, messages cannot be told apart by their times.
function clock.turn_back()
  local ms = room.advanced_at - NOW
  if ms <= 0 then return end
  if ms >= TURNED then
    room.clock_back_from = clock.since(NOW, room.clock_back_at, room.clock_back_from)
    room.clock_back_at = math.max(room.asks_missing_until, room.advanced_at, room.granted, room.last_lease_over, room.last_ask)
    room.asks_missing_from, room.asks_missing_until = clock.since(room.clock_back_from, room.asks_missing_until, room.asks_missing_from), room.clock_back_at
    change.matching = true
  end
  if leases.held() then
    room.expires, change.any, change.lease = room.expires - ms, true, true
    if room.claim_by > 0 then room.claim_by = room.claim_by - ms end
    if room.session ~= ORPHANED then
      journal.record('extended', '"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', room.ticket, room.seller, room.fence, room.expires)
    end
  end
  for _, key in ipairs({ SEEN, AWAY, INBOX }) do
    local list = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #list, 2 do redis.call('ZADD', key, int(list[i + 1] - ms), list[i]) end
  end
  room.advanced_at, change.room = NOW, true
end
