-- pause.lua: nobody is granted while a room is paused; the line keeps its order. The lease goes on.
-- ARGV   6 "1" = pause, "0" = resume  7 the action for the journal (JSON members; "" = none)
-- Codes: ok. Repeating it changes nothing.

local told = repeated()
if told then return told end
wake()
advance()

local PAUSED = ARGV[6] == '1'
if S.paused ~= PAUSED then
  S.paused, changed = PAUSED, true
  if ARGV[7] ~= '' then record('action', ARGV[7]) end
  advance()
end
return answer('ok', '')
