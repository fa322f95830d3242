-- lineage.lua: whether Redis lost writes that a process has observed. Checked before a verb is executed.
--
-- A failover or a restart may lose the last writes. Versions do not show it: as many writes may have come
-- since. So the state lists the replication histories of the Redis server under which the versions of its
-- epoch were written, the latest first: "history:from,history:from". `from` is the first version that could
-- be written under that history. The caller sends the epoch, version and lineage that it has observed. If
-- they are not in the room's past, Redis lost writes.

local HISTORIES = 8 -- how many histories a lineage has at most

-- history returns the first half of the server's replication id; "" if the server does not report it.
-- The id changes when a server restarts or a replica is promoted. Then the last writes may be missing.
local function history()
  local info = settings.events ~= '' and redis.pcall('INFO', 'replication')
  if type(info) ~= 'string' then return '' end
  local _, last = info:find('master_replid:', 1, true)
  return last and info:match('^%x%x%x%x%x%x%x%x%x%x%x%x', last + 1) or ''
end

-- evicted returns how many keys the server has evicted since it started; 0 if it does not report it.
function lineage.evicted()
  local info = redis.pcall('INFO', 'stats')
  return tonumber(type(info) == 'string' and info:match('evicted_keys:(%d+)') or 0)
end

-- outcome_without_lock returns the outcome of a lease whose lock key is missing: lost if the server has
-- evicted keys since the lease began, forced if a person deleted the key.
function lineage.outcome_without_lock()
  local evicted = lineage.evicted()
  return (evicted == 0 or evicted == room.evicted) and 'forced' or 'lost'
end

-- initial returns the lineage of an epoch that begins now.
function lineage.initial() return memo.history ~= '' and memo.history .. ':1' or '' end

-- last_common returns the last version that the room's past and a caller's have in common; -1 for none.
function lineage.last_common(version, of_caller)
  if of_caller == room.lineage or of_caller == '' or room.lineage == '' then return room.version end
  local ends, last = {}, room.version -- ends: the last version under each history
  for id, from in room.lineage:gmatch('(%x+:(%d+))') do
    ends[id], last = last, tonumber(from) - 1
  end
  last = version
  for id, from in of_caller:gmatch('(%x+:(%d+))') do
    if ends[id] then return min(last, ends[id]) end
    last = tonumber(from) - 1
  end
  return -1
end

-- continue_under_new_history adds the server's new history to the room's lineage and begins
-- its recovery window. The room then answers no call for settings.recovery, so that a
-- process that has observed more can replay it.
local function continue_under_new_history()
  local kept, known = { memo.history .. ':' .. int(room.version + 1) }, room.lineage ~= ''
  for part in room.lineage:gmatch('[^,]+') do
    if #kept < HISTORIES then kept[#kept + 1] = part end
  end
  room.lineage = concat(kept, ',')
  if known then room.recovers = NOW + settings.recovery end
  state.write()
end

-- check returns why the verb is not executed, nil if it is:
--   behind           what the caller has observed is not in the room's past, or is of an earlier epoch, or
--                    Redis has lost state or places alone; the caller replays first, see verb/replay.lua
--   recovering <ms>  the room is in its recovery window for so long
function lineage.check()
  memo.history = history()
  if room.epoch > 0 and memo.history ~= '' and room.lineage:sub(1, #memo.history) ~= memo.history
    and not rare.read_only then
    continue_under_new_history()
  end
  if room.recovers > NOW + settings.recovery then room.recovers = 0 end -- the clock went back
  if rare.replays then return nil end
  if caller.epoch > 0 and (caller.epoch ~= room.epoch
    or caller.version > lineage.last_common(caller.version, caller.lineage)) then
    return 'behind'
  end
  if memo.places_lost or room.epoch == 0 and command('EXISTS', PLACES) == 1 then return 'behind' end
  if NOW < room.recovers then return 'recovering ' .. int(room.recovers - NOW) end
end
