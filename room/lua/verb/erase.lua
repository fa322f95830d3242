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
--   seller_has_place  a live place may not be ended; the reply has that place
-- The reply has how many places and how many ended leases were renamed.
-- Publishes that every replica has to read the whole room, if anything was renamed.

-- rename renames the seller in a record; false if it is another one's.
local function rename(record)
  if record.seller ~= args.seller then return false end
  record.seller = args.pseudonym
  return true
end

-- rename_places renames the seller in PLACES, and returns in how many places. The verb restore begins none of
-- them again: the seller would have a place under the pseudonym.
local function rename_places()
  local renamed, list = 0, command('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local p = wire.read_stored_place(list[i + 1])
    if rename(p) then
      p.undoable, p.address = false, ''
      command('HSET', PLACES, list[i], wire.stored_place(p))
      renamed = renamed + 1
    end
  end
  return renamed
end

-- rename_leases renames the seller in LEASES, and returns in how many leases.
local function rename_leases()
  local renamed, list = 0, command('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do
    local lease = wire.read_ended_lease(list[i])
    if rename(lease) then
      command('ZADD', LEASES, list[i + 1], wire.ended_lease(lease))
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
  local session = command('HGET', SELLERS, args.seller)
  if session and not args.end_places then return 'seller_has_place', session end
  if args.check then return 'ok' end
  if session and session == room.session then
    leases.finish('forced', NOW)
    advance()
  elseif session then
    line.leave(session, 'removed')
  end

  local renamed, ended = rename_places(), rename_leases()
  rename_parties()
  if renamed + ended > 0 and room.epoch > 0 then change.any, news.reset = true, true end
  return 'ok', nil, format('"renamed_places":%d,"renamed_leases":%d', renamed, ended)
end
