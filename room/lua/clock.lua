-- clock.lua: Redis's clock, and what holds after a clock jump or an outage of Redis.

local SET_BACK = 1000     -- a clock that goes back by less counts as not set back (ms)

-- read sets the time of this call.
function clock.read()
  local now = command('TIME')
  US = now[1] * 1000000 + now[2]
  NOW = floor(US / 1000)
end

-- of_room returns the room's time, which is never before anything that happened in the room.
-- Redis's clock may be before it, after a failover to a node whose clock is behind.
function clock.of_room() return max(NOW, room.granted, room.last_lease_over, room.last_ask) end

-- missing_from returns the start of a period of missing asks, joined with an earlier period. The period
-- begins at `from`; the earlier one lasted from `before_from` until `before`, 0 = there was none. A late
-- message may have been sent before both, so an earlier period counts as long as ended leases are kept.
function clock.missing_from(from, before, before_from)
  return before > 0 and NOW - before < settings.leases_kept and min(from, before_from) or from
end

-- suspend_presence lets no session count as gone for `ms`: no replica could report presence meanwhile.
-- A holder that has to claim its lease gets the whole time for that again.
function clock.suspend_presence(ms)
  local till = NOW + min(ms, SETTLING)
  if ms > 0 and till > room.presence_trusted_from then
    room.presence_trusted_from, change.room = till, true
    if room.claim_by > 0 then leases.claim_by(till - SETTLING + settings.claim_within) end
  end
end

-- after_outage suspends presence after an outage or a forward clock jump: a session that seems to have been
-- gone for that time was not.
function clock.after_outage()
  local left = max(rare.outage, rare.clock_jump) + SETTLING - NOW
  if left > 0 then clock.suspend_presence(left) end
end

-- is_ahead reports whether a time is later than an outage can put it: then the clock went back.
function clock.is_ahead(at) return at > NOW + SETTLING end

-- follow_jump_back moves future times to a clock that went back, so that nothing takes longer because of
-- that.
-- The times of past leases and asks stay, or two leases would overlap. Messages cannot be matched by time
-- until a quarantine after the clock has passed those times again.
function clock.follow_jump_back()
  local ms = room.advanced_at - NOW
  if ms <= 0 then return end
  if ms >= SET_BACK then
    room.clock_back_from = clock.missing_from(NOW, room.clock_back_at, room.clock_back_from)
    room.clock_back_at =
      max(memo.asks_missing_until, room.advanced_at, room.granted, room.last_lease_over, room.last_ask)
    memo.asks_missing_from =
      clock.missing_from(room.clock_back_from, memo.asks_missing_until, memo.asks_missing_from)
    memo.asks_missing_until = room.clock_back_at
    change.matching = true
  end
  if leases.held() then
    room.expires, change.any, change.lease = room.expires - ms, true, true
    if room.claim_by > 0 then room.claim_by = room.claim_by - ms end
    if room.session ~= ORPHANED then leases.journal_extended() end
  end
  for _, key in ipairs({ SEEN, AWAY, INBOX }) do
    local list = command('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #list, 2 do command('ZADD', key, int(list[i + 1] - ms), list[i]) end
  end
  room.advanced_at, change.room = NOW, true
end
