-- erase: the room knows a seller by a pseudonym from now on. What is in the journal stays as it is.
--
-- A live place of the seller is ended first, or nothing is done.
--
-- args:
--   seller, pseudonym
--   end_places  whether a live place may be ended
--   check       true = nothing is done, but the reply shows whether it would be refused
-- Codes:
--   ok
--   seller_has_place  a live place may not be ended; the standing is that place's
-- After the standing (see reply.lua): how many places and how many ended leases were renamed.
-- Publishes that every replica has to read the whole room, if anything was renamed.

-- rename returns a text with the seller, which is behind `fields` other fields, renamed; nil if that is
-- another seller.
local function rename(text, fields)
  local head, seller, rest = text:match('^(' .. ('[^|]*|'):rep(fields) .. ')([^|]*)(.*)$')
  if seller == args.seller then return head .. args.pseudonym .. rest end
end

-- rename_places renames the seller in PLACES, and returns in how many places.
local function rename_places()
  local renamed, list = 0, command('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local text = rename(list[i + 1], 2)
    if text then
      command('HSET', PLACES, list[i], text)
      renamed = renamed + 1
    end
  end
  return renamed
end

-- rename_leases renames the seller in LEASES, and returns in how many leases.
-- It adds before it removes, so that the key keeps its expiry.
local function rename_leases()
  local renamed, list = 0, command('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do
    local text = rename(list[i], 4)
    if text then
      command('ZADD', LEASES, list[i + 1], text)
      command('ZREM', LEASES, list[i])
      renamed = renamed + 1
    end
  end
  return renamed
end

-- rename_parties renames the seller in the parties of the room's state.
local function rename_parties()
  for _, member in ipairs({ 'open_party', 'second_code_party' }) do
    local of, seller = room[member]:match('^([^=]*)=(.*)$')
    if seller == args.seller then room[member], change.matching = of .. '=' .. args.pseudonym, true end
  end
end

function verb.erase()
  advance()

  local session = command('HGET', SELLERS, args.seller)
  if session and not args.end_places then return reply.refuse('seller_has_place', session, ' 0 0') end
  if args.check then return reply.refuse('ok', '', ' 0 0') end
  if session and session == room.session then
    leases.finish('forced', NOW)
    advance()
  elseif session then
    line.leave(session, 'removed')
  end

  local renamed, ended = rename_places(), rename_leases()
  rename_parties()
  if renamed + ended > 0 and room.epoch > 0 then change.any, news.reset = true, true end
  return reply.answer('ok', '', format(' %d %d', renamed, ended))
end
