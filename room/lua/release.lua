-- release.lua: support ends the lease; the next in line has the lock.
-- ARGV   6 fence  7 action (JSON members; "" = none)
-- Codes: ok, stale_fence

local told = repeated()
if told then return told end
advance()

if not held() or int(S.fence) ~= ARGV[6] then return refuse('stale_fence') end
act(ARGV[7], S.ticket, S.fence, S.seller)
finish('forced', NOW)
advance()
return answer('ok', '')
