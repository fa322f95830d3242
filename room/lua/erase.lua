-- erase.lua: all that the room remembers of a seller is somebody's of another name from now on. What is in the journal stays as it is.
-- A live place is ended first, or nothing is done.
-- Codes: ok, seller_has_place (the standing says which). Behind the standing: how many places and ended leases were renamed.

advance()

local session = redis.call('HGET', SELLERS, SELLER)
if session and not END_PLACES then return refuse('seller_has_place', session, ' 0 0') end
if CHECK then return refuse('ok', '', ' 0 0') end
if session and session == S.session then
  ending().finish('forced', NOW)
  advance()
elseif session then
  waiters().leave_line(session, 'removed')
end

-- rename finds the seller behind `fields` others; nil where it is another one's.
local function rename(text, fields)
  local head, seller, rest = text:match('^(' .. ('[^|]*|'):rep(fields) .. ')([^|]*)(.*)$')
  if seller == SELLER then return head .. PSEUDONYM .. rest end
end

local places, list = 0, redis.call('HGETALL', PLACES)
for i = 1, #list, 2 do
  local text = rename(list[i + 1], 2)
  if text then
    redis.call('HSET', PLACES, list[i], text)
    places = places + 1
  end
end
local leases = 0
list = redis.call('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
for i = 1, #list, 2 do
  local text = rename(list[i], 4)
  if text then
    redis.call('ZADD', LEASES, list[i + 1], text) -- first: the key keeps its end
    redis.call('ZREM', LEASES, list[i])
    leases = leases + 1
  end
end
for _, field in ipairs({ 'open_session', 'awaits' }) do -- each is a session and its seller: see parse_lease in past_leases.lua
  local session, seller = S[field]:match('^([^=]*)=(.*)$')
  if seller == SELLER then S[field], change.codes = session .. '=' .. PSEUDONYM, true end
end
if places + leases > 0 and S.epoch > 0 then change.any, news.reset = true, true end -- every replica reads the room anew
return answer('ok', '', string.format(' %d %d', places, leases))
