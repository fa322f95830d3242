-- remove.lua: support takes a waiter out of the line.
-- ARGV   6 ticket  7 action (JSON members)
-- Codes: ok, stale_ticket

local told = repeated()
if told then return told end
advance()

local session = waiter(tonumber(ARGV[6]))
if not session then return refuse('stale_ticket') end
record('action', ARGV[7])
leave_line(session, 'removed')
return answer('ok', '')
