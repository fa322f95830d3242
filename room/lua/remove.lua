-- remove.lua: support takes a waiter out of the line.
-- Codes: ok, stale_ticket

local told = repeated()
if told then return told end
advance()

local session = waiter(TICKET)
if not session then return refuse('stale_ticket') end
act(ACTION, TICKET, nil, place(session).seller)
waiters().leave_line(session, 'removed')
return answer('ok', '')
