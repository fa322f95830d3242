-- erase: all that the room remembers of a seller is of another name from now on. What is in the journal stays as it is.
-- A live place is ended first, or nothing is done.
-- Codes: ok, seller_has_place (the standing says which). Behind the standing: how many places and ended leases were renamed.

-- rename replaces the seller behind `fields` other fields; nil where it is another one.
local function rename(text, fields)
  local head, seller, rest = text:match('^(' .. ('[^|]*|'):rep(fields) .. ')([^|]*)(.*)$')
  if seller == args.seller then return head .. args.pseudonym .. rest end
end

function verb.erase()
  advance()

  local session = redis.call('HGET', SELLERS, args.seller)
  if session and not args.end_places then return reply.refuse('seller_has_place', session, ' 0 0') end
  if args.check then return reply.refuse('ok', '', ' 0 0') end
  if session and session == room.session then
    leases.finish('forced', NOW)
    advance()
  elseif session then
    line.leave(session, 'removed')
  end

  local renamed, list = 0, redis.call('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local text = rename(list[i + 1], 2)
    if text then
      redis.call('HSET', PLACES, list[i], text)
      renamed = renamed + 1
    end
  end
  local ended = 0
  list = redis.call('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do
    local text = rename(list[i], 4)
    if text then
      redis.call('ZADD', LEASES, list[i + 1], text) -- first: the key keeps its end
      redis.call('ZREM', LEASES, list[i])
      ended = ended + 1
    end
  end
  for _, field in ipairs({ 'open_party', 'second_code_party' }) do -- each is a party: see leases.lua
    local of, seller = room[field]:match('^([^=]*)=(.*)$')
    if seller == args.seller then room[field], change.matching = of .. '=' .. args.pseudonym, true end
  end
  if renamed + ended > 0 and room.epoch > 0 then change.any, news.reset = true, true end -- every replica reads the room anew
  return reply.answer('ok', '', string.format(' %d %d', renamed, ended))
end
