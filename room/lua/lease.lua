-- lease.lua: granting the lock, and when its holder may ask for a code. For every verb.

-- leave_open notes that an ended lease left an ask open, so that most of the time nobody has to look.
local function leave_open(party, at)
  if party == S.open_session then
    S.open_at = math.max(S.open_at, at)
  elseif at < S.open_at then
    S.open_other = math.max(S.open_other, at)
  else
    S.open_other, S.open_session, S.open_at = math.max(S.open_other, S.open_at), party, at
  end
  change.codes = true
end

-- asked_by_others is when another party's lease asked last for what has not come, unless that is over `ms` ago; nil for none. What was asked before a
-- loss may not be known any more.
local function asked_by_others(party, ms)
  local lost = S.noted > 0 and NOW < S.noted + ms and S.noted or nil
  local latest = party == S.open_session and S.open_other or S.open_at
  if latest == 0 or NOW >= latest + ms then return lost end
  if latest > S.unsure then return math.max(latest, lost or 0) end
  local leases = past_leases()
  for lease in leases.past(nil, 2) do
    if NOW >= lease.ended + ms then return lost end
    local at = lease.party ~= party and leases.last_open(lease)
    if at and NOW < at + ms then return math.max(at, lost or 0) end
  end
  return lost
end

-- busy_until is when a party may ask for a code that can be told from another's; 0 = now. An ask that lies ahead was written before the clock went back:
-- nobody waits longer for it than for what was asked just now.
local function busy_until(party)
  local at = asked_by_others(party, QUARANTINE)
  if S.awaits ~= party and S.awaited > 0 then at = math.max(at or 0, S.awaited) end
  local free = math.max(at and math.min(at, NOW) + QUARANTINE or 0, S.lost > 0 and S.lost + QUARANTINE or 0)
  return NOW < free and free or 0
end

-- grant gives the free lock to a session; its fence is above every fence before it. `claim` is as to_claim in waiters.lua says.
local function grant(session, p, rank, claim)
  S.session, S.seller, S.ticket = session, p.seller, p.ticket
  S.fence = math.max(US, S.fence + 1, S.above + 1)
  S.granted = math.max(NOW, S.over) -- leases do not overlap, not even when the clock goes back
  S.expires = NOW + (p.lease or LEASE)
  S.channel, news.rank = p.channel, rank
  if claim then S.claim, S.rank = claim, rank end
  no_codes()
  S.asking, S.ask_after = REQUIRED or p.asks, LEASES_KEPT > 0 and busy_until(session .. '=' .. p.seller) or 0
  change.any, change.lease, change.codes = true, true, LEASES_KEPT > 0
  record('granted', '"ticket":' .. int(S.ticket) .. ',"seller":"' .. S.seller .. '","fence":' .. int(S.fence) .. ',"granted_at":' .. int(S.granted) ..
    ',"expires_at":' .. int(S.expires))
end

-- live_text is a live place as PLACES has it, with what became of its turn.
local function live_text(p, turn)
  return 'live|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(p.at) .. '|' .. p.channel .. '|' .. (p.lease and int(p.lease) or '') .. (p.asks and '|1' or '|0') ..
    (turn and '|' .. turn or '')
end

return leave_open, asked_by_others, busy_until, grant, live_text
