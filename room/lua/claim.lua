-- claim.lua: a session says that it is there: the holder claims its lease, and who did not claim its turn is back in line.
-- Codes: ok, no_place, stale_fence

local told = repeated()
if told then return told end
advance()

local mine = place(SESSION)
if not (mine and mine.live) or (TICKET ~= 0 and mine.ticket ~= TICKET) then return refuse('no_place', SESSION) end
if FENCE ~= 0 and not (S.session == SESSION and S.fence == FENCE) then return refuse('stale_fence', SESSION) end
claims().is_here(SESSION, mine)
return answer('ok', SESSION)
