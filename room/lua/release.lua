-- release.lua: support ends the lease; the next in line has the lock.
-- Codes: ok, stale_fence

local told = repeated()
if told then return told end
advance()

if not held() or S.fence ~= FENCE then return refuse('stale_fence') end
act(ACTION, S.ticket, S.fence, S.seller)
ending().finish('forced', NOW)
advance()
return answer('ok', '')
