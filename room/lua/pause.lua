-- pause.lua: nobody is granted while a room is paused; the line keeps its order. The lease goes on.
-- ARGV   6 "1" = pause, "0" = resume  7 the action for the journal (JSON members; "" = none)
--        8 registered (ms)  9 "1" = for this very call
-- Codes: ok, register. Repeating it changes nothing.

local told = repeated()
if told then return told end
if unlisted(tonumber(ARGV[8]), ARGV[9]) then return register() end
wake()
advance()

local PAUSED = ARGV[6] == '1'
if S.paused ~= PAUSED then
  S.paused, changed = PAUSED, true
  act(ARGV[7])
  advance()
end
return answer('ok', '')
