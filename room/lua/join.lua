-- join.lua: 준비 완료. A free lock is granted at once, otherwise the session waits in line.
-- Codes: ok, no_place (TICKET is over), lock_held, room_paused, room_full, seller_has_place, register (the index entry is too old: renew it, ask again)
-- A session that has a place gets that place: nothing changes, but that it is there (see claims.lua).

local told = repeated()
if told then return told end
if unlisted(REGISTERED, BEGINS) then return beginning().register() end

wake()
advance()

local mine = place(SESSION)
if TICKET ~= 0 and not (mine and mine.live and mine.ticket == TICKET) then return refuse('no_place') end
if mine and mine.live then
  if claims().is_here(SESSION, mine) then return answer('ok', SESSION) end
  commit()
  return reply('ok', SESSION)
end
local no = not MAY_WAIT and (S.paused and 'room_paused' or held() and 'lock_held')
  or ROOM_LIMIT > 0 and (held() or S.paused) and waiting() >= ROOM_LIMIT and 'room_full'
if SELLER ~= '' then
  local elsewhere -- is told first; where nothing else stands against it, the seller's place is written at once
  if no then elsewhere = redis.call('HEXISTS', SELLERS, SELLER) == 1 else elsewhere = redis.call('HSETNX', SELLERS, SELLER, SESSION) == 0 end
  if elsewhere then return refuse('seller_has_place') end
end
if no then return refuse(no) end

S.tickets = S.tickets + 1
local p = { live = true, ticket = S.tickets, seller = SELLER, at = NOW, channel = CHANNEL, lease = OWN_LEASE > 0 and OWN_LEASE or nil, asks = ASKS }
put_place(SESSION, live_text(p), p)
if mine then redis.call('ZREM', ENDED, SESSION) end
local who = '"ticket":' .. int(p.ticket) .. ',"seller":"' .. SELLER .. '"'
if EVENTS ~= '' then tell('joined', '{"session":"' .. SESSION .. '",' .. who .. ',"rank":' .. int(p.ticket) .. '}') end
record('joined', who)
change.any = true

if held() or S.paused then
  waiters().enqueue(SESSION, int(p.ticket))
  S.last = SESSION
  if VOUCH > 0 then waiters().there_until(SESSION, NOW + VOUCH) end
else
  grant(SESSION, p, int(p.ticket))
  S.channel = nil -- who asks is told by the reply
end
return answer('ok', SESSION)
