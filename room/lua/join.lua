-- join.lua: 준비 완료. A free lock is granted at once, otherwise the session waits in line.
-- Codes: ok, no_place (TICKET is over), lock_held, room_paused, room_full, seller_has_place, register (the index entry is too old: renew it, ask again)
-- A session that has a place gets that place: nothing changes, but that it is there (see claims.lua).

local told = repeated()
if told then return told end
if unlisted(REGISTERED, FRESH) then return register() end

wake()
advance()

local mine = place(SESSION)
if TICKET ~= 0 and not (mine and mine.live and mine.ticket == TICKET) then return refuse('no_place') end
if mine and mine.live then
  if is_here(mine) then return answer('ok', SESSION) end
  commit()
  return reply('ok', SESSION)
end
if SELLER ~= '' and redis.call('HEXISTS', SELLERS, SELLER) == 1 then return refuse('seller_has_place') end
if not MAY_WAIT and S.paused then return refuse('room_paused') end
if not MAY_WAIT and held() then return refuse('lock_held') end
if ROOM_LIMIT > 0 and (held() or S.paused) and redis.call('ZCARD', QUEUE) >= ROOM_LIMIT then return refuse('room_full') end

S.tickets = S.tickets + 1
local p = { ticket = S.tickets, seller = SELLER, channel = '', lease = OWN_LEASE > 0 and OWN_LEASE or nil, asks = ASKS }
redis.call('HSET', PLACES, SESSION, table.concat({ 'live', int(p.ticket), SELLER, int(NOW), CHANNEL, p.lease and int(p.lease) or '', ASKS and '1' or '0' }, '|'))
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
