-- renew.lua: the store went back in time (a failover lost writes): somebody has seen a later version of
-- this epoch than Redis knows, or Redis knows nothing of the room any more. What was told then can not be
-- trusted, so a new epoch begins, above the one that was seen.
-- ARGV   6 epoch  7 version that was seen  8 registered (ms)  9 "1" = for this very call
-- Codes: ok, register. Nothing happens unless the epoch is still that one and its version is lower, or
-- the room is gone.

local EPOCH, VERSION = tonumber(ARGV[6]), tonumber(ARGV[7])
local gone = S.epoch == 0 and EPOCH > 0

if gone or S.epoch < EPOCH or (S.epoch == EPOCH and S.version < VERSION) then
  if unlisted(tonumber(ARGV[8]), ARGV[9]) then return register() end
  S.epoch = EPOCH
  wake()
  begin(true)
  changed, lease_changed = true, true
end
commit()
return reply('ok', '')
