-- remove.lua: support takes a waiter out of the line.
-- ARGV   6 ticket  7 action (JSON members; "" = none)
-- Codes: ok, stale_ticket

local TICKET = tonumber(ARGV[6])

local told = repeated()
if told then return told end
advance()

local session = waiter(TICKET)
if not session then return refuse('stale_ticket') end
act(ARGV[7], TICKET, nil, place(session).seller)
leave_line(session, 'removed')
return answer('ok', '')
