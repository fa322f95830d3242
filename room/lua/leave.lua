-- leave.lua: the holder is done or gives up, or a waiter leaves the line.
-- Codes: ok, no_place, stale_fence
-- Returns after the standing: already, where a message has completed that very lease before.

local ALREADY_FOR = 10 * 60 * 1000

local told = repeated()
if told then return told end
advance()

local mine = place(SESSION)
if mine and mine.by_message and OUTCOME == 'completed' and mine.fence == int(FENCE) and (TICKET == 0 or mine.ticket == TICKET) and NOW - mine.at <= ALREADY_FOR then
  return answer('ok', SESSION, ' already')
end
if not (mine and mine.live and (TICKET == 0 or mine.ticket == TICKET)) then return refuse('no_place', SESSION) end
local holds = S.session == SESSION
if FENCE ~= 0 and not (holds and FENCE == S.fence) then return refuse('stale_fence', SESSION) end

if holds then
  ending().finish(OUTCOME, NOW)
  advance()
else
  waiters().leave_line(SESSION, 'cancelled')
end
return answer('ok', SESSION)
