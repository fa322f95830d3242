-- lineage.lua: whether Redis lost writes that somebody has observed. Checked before anything is done.
--
-- A failover or a restart may lose the last writes, and counts do not tell: as many may have come since. So the state keeps under which
-- histories of the server the versions of its epoch were written, as "history:from,history:from" with the latest first; `from` is the first
-- version that could be written under it. What a caller has observed (epoch, version, lineage) is in the room's past, or Redis lost it.

local HISTORIES = 8 -- so many are kept

-- history names the server's history: its replication id, which changes with a restart and a promotion, when the last writes may be missing.
-- "" where the server does not say.
local function history()
  local info = settings.events ~= '' and redis.pcall('INFO', 'replication')
  if type(info) ~= 'string' then return '' end
  local _, last = info:find('master_replid:', 1, true)
  return last and info:match('^%x%x%x%x%x%x%x%x%x%x%x%x', last + 1) or ''
end

-- first is the lineage of an epoch that begins now.
function lineage.first() return room.history ~= '' and room.history .. ':1' or '' end

-- agreed is the last version that the room's past and a caller's have in common; -1 for none.
function lineage.agreed(version, of_caller)
  if of_caller == room.lineage or of_caller == '' or room.lineage == '' then return room.version end
  local ends, last = {}, room.version
  for stretch, from in room.lineage:gmatch('(%x+:(%d+))') do
    ends[stretch], last = last, tonumber(from) - 1
  end
  last = version
  for stretch, from in of_caller:gmatch('(%x+:(%d+))') do
    if ends[stretch] then return math.min(last, ends[stretch]) end
    last = tonumber(from) - 1
  end
  return -1
end

-- continue notes that the room goes on under another history. The room then answers no call for settings.recovery, so that a process that has
-- observed more can replay it.
local function continue()
  local kept, known = { room.history .. ':' .. int(room.version + 1) }, room.lineage ~= ''
  for stretch in room.lineage:gmatch('[^,]+') do
    if #kept < HISTORIES then kept[#kept + 1] = stretch end
  end
  room.lineage = table.concat(kept, ',')
  if known then room.recovers = NOW + settings.recovery end
  state.write('room')
end

-- check returns why the call is not executed, nil where it is:
--   behind      what the caller has observed is not in the room's past, or is of an earlier epoch: the caller replays it first (verb/replay.lua)
--   recovering <ms>  another history has just begun: the room answers no call for so long
function lineage.check()
  room.history = history()
  if room.epoch > 0 and room.history ~= '' and room.lineage:sub(1, #room.history) ~= room.history and not caller.read_only then continue() end
  if room.recovers > NOW + settings.recovery then room.recovers = 0 end -- the clock went back
  if caller.replays then return nil end
  if caller.epoch > 0 and (caller.epoch ~= room.epoch or caller.version > lineage.agreed(caller.version, caller.lineage)) then return 'behind' end
  if room.epoch == 0 and redis.call('EXISTS', PLACES) == 1 then return 'behind' end -- the state alone is gone
  if NOW < room.recovers then return 'recovering ' .. int(room.recovers - NOW) end
end
