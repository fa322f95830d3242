-- extend.lua: support gives the holder more time.
-- ARGV   6 fence  7 by (ms)  8 the longest a lease may be in all (ms)  9 action (JSON members; "" = none)
-- Codes: ok, stale_fence, lease_too_long

local told = repeated()
if told then return told end
advance()

if not held() or int(S.fence) ~= ARGV[6] then return refuse('stale_fence') end
local expires = S.expires + tonumber(ARGV[7])
if expires - S.granted > tonumber(ARGV[8]) then return refuse('lease_too_long') end
S.expires, changed, lease_changed = expires, true, true
act(ARGV[9], S.ticket, S.fence, S.seller)
record('extended', string.format('"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', S.ticket, S.seller, S.fence, expires))
helped(S.session, 'extended')
return answer('ok', '')
