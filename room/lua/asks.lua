-- asks.lua: the asks of a room's leases. For expect, match, reject and settle, and for letters and assign.

local kept = past_leases()
local parse_asks, past, last_open = kept.parse_asks, kept.past, kept.last_open

local LONGEST = 10 * 60 * 1000    -- no lease is longer than this in all

-- CLOCK is the room's time: it never goes back behind what happened in the room, though Redis's clock may in a failover.
local function room_clock() return math.max(NOW, S.granted, S.over, S.last_ask) end

local function asks_text(asks)
  local parts = {}
  for i, a in ipairs(asks) do parts[i] = int(a.n) .. ',' .. int(a.at) .. ',' .. a.answered .. ',' .. a.filter .. ';' end
  return table.concat(parts)
end

-- current is the live lease in the shape of an ended one, or the one that is over where that can not be written (see still.lua); nil where the lock is nobody's.
local function current()
  local session = held() and S.session or S.over_session
  if not session or session == ORPHANED then return nil end
  return { current = held(), fence = S.fence, ticket = S.ticket, session = session, seller = S.seller, party = session .. '=' .. S.seller, granted = S.granted, ended = held() and S.expires or math.min(S.expires, NOW),
    asking = S.asking, codes = S.codes, rejects = S.rejects, asks = S.asked > 0 and parse_asks(redis.call('HGET', STATE, 'asks') or '') or {} }
end

-- by_fence finds a lease that is live or ended in the last day.
local function by_fence(fence)
  if held() and S.fence == fence then return current() end
  for lease in past(nil, 8) do
    if lease.fence == fence then return lease end
    if lease.fence < fence then return nil end
  end
end

-- write_lease writes a lease's asks and flags back. What the holder is told of them changes with it: also from when it may
-- ask, where the lease is an earlier one.
local function write_lease(lease)
  if lease.current then
    local asked, open, last = #lease.asks, 0, 0
    for _, a in ipairs(lease.asks) do
      if a.answered == '' then open = open + 1 end
      last = math.max(last, a.at)
    end
    if asked > 0 then redis.call('HSET', STATE, 'asks', asks_text(lease.asks)) end
    if asked ~= S.asked or open ~= S.open then change.any = true end
    S.asked, S.open, S.last_ask, S.asking, S.codes, S.rejects = asked, open, last, lease.asking, lease.codes, lease.rejects
    change.codes = true
    return
  end
  local text = ending().lease_text(lease.fence, lease.ticket, lease.ended, lease.session, lease.seller, lease.asking, lease.codes, lease.rejects,
    asks_text(lease.asks))
  redis.call('ZADD', LEASES, int(lease.granted), text)
  if text ~= lease.text then redis.call('ZREM', LEASES, lease.text) end
  lease.text = text
  local at = last_open(lease)
  if at then leave_open(lease.party, at) end
  if S.open_at > S.unsure then -- one that was open may be answered now. (An older program does not note that: a number is busy for a quarantine longer, at the most.)
    S.unsure = S.open_at
    redis.call('HSET', STATE, 'unsure', int(S.unsure))
  end
  if held() then
    local after = busy_until(S.session .. '=' .. S.seller)
    if after ~= S.ask_after and (after > NOW or S.ask_after > NOW) then S.ask_after, change.any, change.codes = after, true, true end
  end
end

-- add_ask adds an ask to a lease where it belongs by its time.
local function add_ask(lease, at, answered, filter)
  local n = 0
  for _, a in ipairs(lease.asks) do n = math.max(n, a.n) end
  table.insert(lease.asks, { n = n + 1, at = at, answered = answered, filter = filter })
  table.sort(lease.asks, function(a, b) return a.at < b.at or (a.at == b.at and a.n < b.n) end)
end

-- take_back makes a message the answer to nothing: what it answered is open again as of its old time.
local function take_back(lease, m)
  for _, a in ipairs(lease.asks) do
    if a.answered == m.digest then a.answered = '' end
  end
  if not lease.asking and m.code then lease.codes = math.max(lease.codes - 1, 0) end
  write_lease(lease)
end

-- await notes that a party, which asked last at that moment, may be sent one more code though that ask is answered: see awaited in match_whose.lua. 0: it may not.
-- Until the quarantine of that ask is over nobody else asks.
local function await(party, at)
  if at > 0 then
    S.awaits, S.awaited, change.codes = party, at, true
  elseif S.awaits == party then
    S.awaits, S.awaited, change.codes = '', 0, true
  end
end

return LONGEST, past, room_clock, current, by_fence, write_lease, add_ask, take_back, await
