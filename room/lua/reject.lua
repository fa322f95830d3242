-- reject.lua: the session of a message's lease says that the message is not its own. It is nobody's from then on, and the ask
-- that it answered is open again as of its old time, also where the lease is over.
-- KEYS  15 the message's answer; see inbox.lua
-- Codes: ok, no_message, stale_fence, too_many_rejects

local told = repeated()
if told then return told end
advance()
forget_messages()

local m = message(DIGEST)
if not (m and m.session == SESSION and m.state == 's') then return refuse('no_message', SESSION) end
if m.fence ~= FENCE then return refuse('stale_fence', SESSION) end
local lease = by_fence(m.fence)
if lease and lease.rejects >= MOST then return refuse('too_many_rejects', SESSION) end

if lease then
  lease.rejects = lease.rejects + 1
  take_back(lease, m)
end
record('rejected', '"message_id":%s,"ticket":%d,"fence":%d,"seller":"%s"', ID, m.ticket, m.fence, lease and lease.seller or '')
local entry = inbox_entry(m)
m.rejected = m.rejected .. (m.rejected ~= '' and ',' or '') .. int(FENCE)
m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'rejected'
write_message(m, entry)
own(KEYS[15], 0)
show(SESSION)
desk()
return answer('ok', SESSION)
