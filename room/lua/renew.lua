-- renew.lua: the store went back in time (a failover lost writes): somebody has seen a later version of
-- this epoch than Redis knows. What was told then can not be trusted, so a new epoch begins.
-- ARGV   6 epoch  7 version that was seen
-- Codes: ok. Nothing happens unless the epoch is still that one and its version is lower.

if S.epoch == tonumber(ARGV[6]) and S.version < tonumber(ARGV[7]) then
  wake()
  begin()
  changed, lease_changed = true, true
end
commit()
return reply('ok', '')
