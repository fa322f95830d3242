-- presence: a replica reports once which sessions have connected to it, and which have gone.
--
-- args:
--   replica  its number
--   number   of this report, among that replica's in this room
--   came     how many sessions have connected
--   changes  those sessions; then of each that has gone: the session, the replica number under which it was
--            reported, and for how long it has been gone (ms)
-- Codes: ok
-- Publishes which waiters are back, and what time alone has changed.

-- forget_calls deletes what STATE has of the latest calls of replicas to which no session here is connected.
local function forget_calls()
  for _, field in ipairs(command('HKEYS', STATE)) do
    local replica = field:match('^calls:(%d+)$')
    local unused = replica and #command('ZRANGEBYSCORE', HERE, replica, replica, 'LIMIT', 0, 1) == 0
    if unused then command('HDEL', STATE, field) end
  end
end

-- latest_number returns the number of the replica's latest report, 0 for none; nil if Redis does not know the
-- room. An earlier report than that may still arrive, and must not undo it. STATE has "number|when (ms)".
local function latest_number(field)
  return room.epoch > 0 and tonumber((command('HGET', STATE, field) or '0'):match('^%d+')) or nil
end

prepare.presence = 'itself'
function verb.presence()
  local field = 'calls:' .. args.replica
  local latest = latest_number(field)
  if latest and args.number >= latest then
    if latest == 0 then forget_calls() end
    command('HSET', STATE, field, int(args.number) .. '|' .. int(NOW))
    clock.follow_jump_back()
    local list = args.changes
    for i = args.came + 1, #list, 3 do -- before the others: some of these sessions have connected again
      presence.disconnect(list[i], list[i + 1], NOW - tonumber(list[i + 2]))
    end
    for i = 1, args.came do presence.connect(list[i], args.replica) end
  end
  advance()
  return 'ok'
end
