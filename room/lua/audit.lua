-- audit.lua: what support did that changes nothing in the room, or what a person should look at, for the journal.
-- Codes: ok, register

local told = repeated()
if told then return told end
if KIND ~= '' then
  if unlisted(REGISTERED, BEGINS) then return beginning().register() end
  wake()
end
advance()
if KIND ~= '' then record(KIND, MEMBERS) end
if ALERT then desk() end
return answer('ok', '')
