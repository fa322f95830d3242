-- lineage.lua: whether the store went back in time. For every verb, before anything is done.
--
-- A failover or a restart may lose the last writes, and counts do not tell: as many may have come since. So the state keeps under which
-- histories of the server the versions of its epoch were written, as "history:from,history:from" with the latest first; `from` is the first
-- version that could be written under it. What a caller was told (epoch, version, lineage) is in the room's past, or the store lost it.
-- Returns early, and nothing was done:
--   behind      what the caller was told is not in the room's past, or was told of an epoch before: it lays that before the room (renew.lua)
--   doubt (ms)  another history has begun just now: nobody is answered until those who were told more have had the time to say so

local HISTORIES = 8 -- so many are kept

-- agreed is the last version that the room's past and what the caller was told have in common; -1 for none.
local function agreed(version, lineage)
  if lineage == S.lineage or lineage == '' or S.lineage == '' then return S.version end
  local ends, last = {}, S.version
  for stretch, from in S.lineage:gmatch('(%x+:(%d+))') do
    ends[stretch], last = last, tonumber(from) - 1
  end
  last = version
  for stretch, from in lineage:gmatch('(%x+:(%d+))') do
    if ends[stretch] then return math.min(last, ends[stretch]) end
    last = tonumber(from) - 1
  end
  return -1
end

-- Where the store takes no writes, who asks is told how the room is, and nobody was told more (else it is behind): see still.lua.
if S.epoch > 0 and history ~= '' and S.lineage:sub(1, #history) ~= history and VERB:sub(-6) ~= '_still' then
  local kept, known = { history .. ':' .. int(S.version + 1) }, S.lineage ~= ''
  for stretch in S.lineage:gmatch('[^,]+') do
    if #kept < HISTORIES then kept[#kept + 1] = stretch end
  end
  S.lineage = table.concat(kept, ',')
  if known then S.doubt = NOW + DOUBT end -- else an older program wrote the state
  redis.call('HSET', STATE, 'lineage', S.lineage, 'doubt', int(S.doubt))
end
if S.doubt > NOW + DOUBT then S.doubt = 0 end -- the clock went back

if not LAYS then
  if TOLD_EPOCH > 0 and (TOLD_EPOCH ~= S.epoch or TOLD_VERSION > agreed(TOLD_VERSION, TOLD_LINEAGE)) then return 'behind' end
  if S.epoch == 0 and redis.call('EXISTS', PLACES) == 1 then return 'behind' end -- the state alone is gone
  if NOW < S.doubt then return 'doubt ' .. int(S.doubt - NOW) end
end
