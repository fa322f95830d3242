-- times.lua: where time is not what it seems: the store was away, or its clock went back.

-- claim_by gives the holder until then to claim its lease.
local function claim_by(at)
  if at > S.claim then S.claim, change.any, change.lease = at, true, true end
end

-- trust has nobody judged for a while: the store was away, and nobody was able to say that it is there. Who was there then counts as there until the
-- replicas have had the time to say who is, and who was to claim its lease has the whole time again.
local function trust(ms)
  local till = NOW + math.min(ms, TRUSTED)
  if ms > 0 and till > S.trust then
    S.trust, change.trust = till, true
    if S.claim > 0 then claim_by(till - TRUSTED + CLAIM_WITHIN) end
  end
end

local TURNED = 1000 -- a clock that goes back by less is none that was set (ms)

-- turn_clock brings what lies ahead to a clock that went back, so that nothing takes longer for it. But the times of leases and asks stay, or two leases would overlap:
-- until the clock has been there again, and for a quarantine more, what is sent can not be told apart by its time, and is nobody's.
local function turn_clock()
  local ms = S.looked - NOW
  if ms <= 0 then return end
  if ms >= TURNED then
    S.turned_from = since(NOW, S.turned, S.turned_from)
    S.turned = math.max(S.lost, S.looked, S.granted, S.over, S.last_ask)
    S.lost_from, S.lost = since(S.turned_from, S.lost, S.lost_from), S.turned
    redis.call('HSET', STATE, 'turned', int(S.turned), 'turned_from', int(S.turned_from))
  end
  if held() then
    S.expires, change.any, change.lease = S.expires - ms, true, true
    if S.claim > 0 then S.claim = S.claim - ms end
    if S.session ~= ORPHANED then
      record('extended', '"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', S.ticket, S.seller, S.fence, S.expires)
    end
  end
  for _, key in ipairs({ SEEN, AWAY, INBOX }) do
    local list = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #list, 2 do redis.call('ZADD', key, int(list[i + 1] - ms), list[i]) end
  end
  S.looked = NOW
  redis.call('HSET', STATE, 'looked', int(NOW))
end

return { claim_by = claim_by, trust = trust, turn_clock = turn_clock }
