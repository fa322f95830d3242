-- ending.lua: ending a lease, and what is kept and learnt of it.

local function lease_text(fence, ticket, ended, session, seller, asking, codes, rejects, asks)
  return int(fence) .. '|' .. int(ticket) .. '|' .. int(ended) .. '|' .. session .. '|' .. seller .. '|' .. (asking and '1,' or '0,') .. int(codes) .. ',' .. int(rejects) ..
    '|' .. asks
end

-- keep writes an ended lease down, for messages that come late.
local function keep(ended)
  local asks = S.asked > 0 and redis.call('HGET', STATE, 'asks') or ''
  redis.call('ZADD', LEASES, int(S.granted), lease_text(S.fence, S.ticket, ended, S.session, S.seller, S.asking, S.codes, S.rejects, asks))
  if S.fence % FORGETTING == 0 then redis.call('ZREMRANGEBYSCORE', LEASES, '-inf', int(NOW - LEASES_KEPT)) end
  local open = not S.asking and S.codes == 0 and ended -- it may have asked at any time
  if S.asking and S.open > 0 then
    local leases = past_leases()
    open = leases.last_open({ asking = true, asks = leases.parse_asks(asks) })
  end
  if open then leave_open(S.session .. '=' .. S.seller, open) end
  if S.asked > 0 then redis.call('HDEL', STATE, 'asks') end
end

-- free ends the lease and returns when it was over, which is `at` or when something happened in it later. The line moves in advance().
local function free(at)
  at = math.max(at, S.granted, S.last_ask)
  S.over = math.max(S.over, at) -- where a loss took the holder, later leases were told of
  if S.session ~= ORPHANED and LEASES_KEPT > 0 then keep(at) end
  S.session, S.seller, S.ticket, S.granted, S.expires, S.claim, S.rank = '', '', 0, 0, 0, 0, nil
  change.any, change.lease = true, true
  return at
end

-- learn takes into the average how long a lease was held (ms): as the nth it weighs 1/(n + 1), from the ninth on a tenth. docs/estimates.md says why.
local function learn(held_for)
  S.holds = math.min(S.holds + 1, 9)
  local weight, off = 1 / (S.holds + 1), math.min(held_for, LEASE) - S.hold
  set_average(S.hold + weight * off, math.sqrt((1 - weight) * (S.spread * S.spread + weight * off * off)))
  change.average = true
end

-- finish ends the lease and its holder's place. Whose lease it was that is nobody's any more was told long ago.
local function finish(outcome, at, by_message)
  local session, fence, granted, p = S.session, S.fence, S.granted, { ticket = S.ticket, seller = S.seller }
  at = free(at)
  if session == ORPHANED then return end
  learn(at - granted)
  end_place(session, p, outcome, at, fence, nil, by_message)
end

return { lease_text = lease_text, free = free, finish = finish }
