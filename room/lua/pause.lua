-- pause.lua: nobody is granted while a room is paused; the line keeps its order. The lease goes on.
-- Codes: ok, register. Repeating it changes nothing, and is written down.

local told = repeated()
if told then return told end
if unlisted(REGISTERED, BEGINS) then return beginning().register() end
wake()
advance()

if S.paused ~= PAUSED then
  S.paused, change.any = PAUSED, true
  act(ACTION)
  advance()
else
  act(ACTION)
end
return answer('ok', '')
