-- join.lua: 준비 완료. A free lock is granted at once, otherwise the session waits in line.
-- ARGV   6 session  7 seller ("" = nobody's)  8 "1" = may wait  9 this place's lease (ms, 0 = the room's)
--       10 channel to tell when a waiter is granted ("" = none)  11 registered (ms): when the room was last put into the index
--       12 vouched for (ms from now): a waiter is away when nobody vouches for it again by then; 0 = never away
--       13 "1" = registered for this very call  14 "1" = it says before it asks for a code (see expect.lua)
--       15 how many may wait (0 = any number)
-- Codes: ok, lock_held, room_paused, room_full, seller_has_place, register (the index entry is too old: renew it, ask again)
-- A session that has a place gets that place: nothing changes.

local SESSION, SELLER, MAY_WAIT = ARGV[6], ARGV[7], ARGV[8] == '1'
local OWN_LEASE, CHANNEL, REGISTERED, VOUCH = ARGV[9], ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12])
local ROOM_LIMIT = tonumber(ARGV[15])

local told = repeated()
if told then return told end
if unlisted(REGISTERED, ARGV[13]) then return register() end

wake()
advance()

local mine = place(SESSION)
if mine and mine.live then
  commit()
  return reply('ok', SESSION)
end
if SELLER ~= '' and redis.call('HEXISTS', SELLERS, SELLER) == 1 then return refuse('seller_has_place') end
if not MAY_WAIT and S.paused then return refuse('room_paused') end
if not MAY_WAIT and held() then return refuse('lock_held') end
if ROOM_LIMIT > 0 and (held() or S.paused) and redis.call('ZCARD', QUEUE) >= ROOM_LIMIT then return refuse('room_full') end

S.tickets = S.tickets + 1
local p = { ticket = S.tickets, seller = SELLER, channel = '', lease = OWN_LEASE ~= '0' and tonumber(OWN_LEASE) or nil, asks = ARGV[14] == '1' }
redis.call('HSET', PLACES, SESSION, table.concat({ 'live', int(p.ticket), SELLER, int(NOW), CHANNEL, OWN_LEASE ~= '0' and OWN_LEASE or '', ARGV[14] }, '|'))
if SELLER ~= '' then redis.call('HSET', SELLERS, SELLER, SESSION) end
if mine then redis.call('ZREM', ENDED, SESSION) end
if TELLS then joined[1] = string.format('{"session":"%s","ticket":%d,"seller":"%s","rank":%d}', SESSION, p.ticket, SELLER, p.ticket) end
record('joined', '"ticket":%d,"seller":"%s"', p.ticket, SELLER)
changed = true

if held() or S.paused then
  redis.call('ZADD', QUEUE, int(p.ticket), SESSION)
  if VOUCH > 0 then redis.call('ZADD', SEEN, int(NOW + VOUCH), SESSION) end
else
  grant(SESSION, p, int(p.ticket))
end
return answer('ok', SESSION)
