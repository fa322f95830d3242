-- audit.lua: what support did that changes nothing in the room, or what a person should look at, for the journal.
-- ARGV   6 type of the record ("" = none: only who watches is told)  7 its JSON members  8 "1" = who watches is told that there is
--        something to look at  9 registered (ms)  10 "1" = for this very call
-- Codes: ok, register

local told = repeated()
if told then return told end
if ARGV[6] ~= '' then
  if unlisted(tonumber(ARGV[9]), ARGV[10]) then return register() end
  wake()
end
advance()
if ARGV[6] ~= '' then record(ARGV[6], ARGV[7]) end
if ARGV[8] == '1' then desk() end
return answer('ok', '')
