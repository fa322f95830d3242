-- claims.lua: a session says that it is there, of its own accord. For claim.lua, expect.lua and join.lua.

-- claim_lease takes the lease for claimed; false where it was, or need not be.
local function claim_lease()
  if not S.rank then return false end
  if S.claim > 0 then change.any, change.lease = true, true end
  S.claim, S.rank, change.codes = 0, nil, true -- also of one without a browser: it needs no claim, should one be told of late
  return change.any
end

-- come_back has a session whose turn passed unclaimed wait as it did before. A browser that is not connected is gone from now on.
local function come_back(session, p)
  put_place(session, live_text(p, 'b' .. p.missed))
  waiters().back_again(session)
  if not redis.call('ZSCORE', HERE, session) then waiters().there_until(session, NOW) end
  change.any = true
  advance()
  local rank = redis.call('ZSCORE', QUEUE, session)
  if rank then tell('moved', string.format('{"session":"%s","ticket":%d,"rank":%s,"from":%s}', session, p.ticket, rank, rank)) end
end

-- is_here is true where that changed how the session stands.
local function is_here(session, p)
  if S.session == session then return claim_lease() end
  if p.unclaimed then come_back(session, p) end
  return p.unclaimed
end

return { claim_lease = claim_lease, is_here = is_here }
