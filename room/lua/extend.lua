-- extend.lua: support gives the holder more time, or the holder itself takes it.
-- Codes: ok, stale_fence, lease_too_long

local told = repeated()
if told then return told end
advance()

if not held() or S.session == ORPHANED or S.fence ~= FENCE or (SESSION ~= '' and S.session ~= SESSION) then return refuse('stale_fence') end
local expires = S.expires + MORE
if expires - S.granted > LONGEST then return refuse('lease_too_long') end
S.expires, change.any, change.lease = expires, true, true
act(ACTION, S.ticket, S.fence, S.seller)
record('extended', string.format('"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', S.ticket, S.seller, S.fence, expires))
helped(S.session, 'extended')
return answer('ok', '')
