-- renew.lua: a process lays before the room what it was told. Where that is not in the room's past, the store went back in time (a failover,
-- an older file, an emptied store) and a new epoch begins, above the one that was told:
--   - who waits in what is left keeps place, order and ticket, unless it was told otherwise since;
--   - whoever held the lock, and whoever was told of a place that is not there any more, is told that it is lost;
--   - until the last lease that was told of would have ended, the lock is nobody's and is not granted;
--   - fences, tickets and the times of leases go on above those that are known, also where the store's clock is behind.
-- So it does where the ledger knows of a later fence or ticket than the room has.
-- Where another process began the new epoch already, what this one knows is added to that.
-- KNOWN is JSON: fence, ticket (the highest that are known, also to the ledger), over (when the last lease that was told of was granted or over, ms; 0 = not known),
--          lost (true = the ledger knows of a lease that is lost), ended (when the last lease that the ledger knows of was over, ms; 0 = there is none),
--          lease (null where the last one is over: fence, ticket, granted, left (ms)), last (fence of the last lease that was told),
--          places ([{session, ticket, seller, of (epoch), joined, fence, granted, expires, outcome, ended, waited}]; fence where it holds the lock, outcome where
--          it ended, waited where it was told to wait and the ledger alone says that it ended,
--          missed {fence, granted, expires, ended}: the lease that it did not claim)
-- Codes: renewed, ok, register. Nothing happens where all of it is in the room's past.

local K = cjson.decode(KNOWN)
local LOOKED = S.looked
if S.epoch > 0 then times().turn_clock() end
local LEFT = S.epoch == 0 and redis.call('EXISTS', PLACES) == 1 -- the places without the state
-- Nobody is ahead of a room that lost nothing, neither the ledger nor this process.
local AHEAD = S.epoch > 0 and (EPOCH == 0 or EPOCH == S.epoch) and (K.fence > math.max(S.fence, S.above) or K.ticket > S.tickets)
local LOST = LEFT or AHEAD or S.epoch < EPOCH or (S.epoch == EPOCH and VERSION > agreed(VERSION, LINEAGE))
local RECORDED = S.epoch == 0 and (K.fence > 0 or K.ticket > 0)    -- the ledger alone knows the room

if (LOST or RECORDED) and unlisted(REGISTERED, BEGINS) then return beginning().register() end

-- tell_lost writes that a session's place was lost, or how it ended as somebody was told.
local function tell_lost(session, ticket, seller, fence, outcome)
  waiters().unqueue(session)
  if seller ~= '' and redis.call('HGET', SELLERS, seller) == session then redis.call('HDEL', SELLERS, seller) end
  if ENDED_KEPT > 0 then
    put_place(session, table.concat({ outcome or 'lost', int(ticket), seller, int(NOW), fence and int(fence) or '', '', '' }, '|'))
    redis.call('ZADD', ENDED, int(NOW), session)
  else
    put_place(session, nil, false)
  end
  change.any, news.reset = true, true
end

-- told_of journals a place as it was told, so that the ledger has it: the store may have lost that.
local function told_of(f, of)
  record('told', '"of":%d,"ticket":%d,"seller":"%s","joined_at":%d,"fence":%d,"granted_at":%d,"expires_at":%d,"outcome":"%s","ended_at":%d',
    of, f.ticket, f.seller, f.joined or 0, f.fence or 0, f.granted or 0, f.expires or 0, f.outcome or 'lost', math.max(f.outcome and f.ended or NOW, f.granted or 0))
end

-- miss_told journals a lease that was told of and that nobody claimed, so that the ledger has it: the store may have lost that.
local function miss_told(f)
  local m = f.missed
  record('told', '"of":%d,"ticket":%d,"seller":"%s","fence":%d,"granted_at":%d,"expires_at":%d,"outcome":"unclaimed","ended_at":%d',
    f.of, f.ticket, f.seller, m.fence, m.granted, m.expires, m.ended)
end

-- compare brings one place to what was told of it. While nobody is answered, a live place with a lower ticket is what is left of an earlier one.
local function compare(f)
  if f.missed then miss_told(f) end
  local p = place(f.session)
  local same = p and p.ticket == f.ticket
  if same and not p.live then
    if p.outcome ~= 'lost' or not (f.outcome or (f.fence and p.fence == '')) then return end -- known
    told_of(f, f.of) -- another process was told no end of it, or not that it held the lock
    return tell_lost(f.session, f.ticket, f.seller, f.fence, f.outcome)
  end
  if same and f.session == S.session and not LOST then return end -- granted since
  local waits = same and redis.call('ZSCORE', QUEUE, f.session)
  if waits and (f.waited or not f.outcome and not f.fence) then return end -- it keeps its place
  told_of(f, same and not LOST and S.epoch or f.of)
  if same or not p or ((LOST or NOW < S.doubt or not p.live) and p.ticket < f.ticket) then tell_lost(f.session, f.ticket, f.seller, f.fence, f.outcome) end
end

-- carry ends the places that are not in the line, whoever held the lock among them, and lists the others for the ledger: they go on.
local function carry()
  local kept, list = {}, redis.call('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local live, ticket, seller = list[i + 1]:match('^([^|]*)|(%d+)|([^|]*)|')
    S.tickets = math.max(S.tickets, tonumber(ticket))
    if live == 'live' and redis.call('ZSCORE', QUEUE, list[i]) then
      kept[#kept + 1] = string.format('{"ticket":%d,"seller":"%s"}', ticket, seller)
    elseif live == 'live' then
      tell_lost(list[i], ticket, seller, list[i] == S.session and S.fence or nil)
    end
  end
  return table.concat(kept, ',')
end

-- forked is true where the room has versions that are not in the past of what was told: then fences do not say which of two leases is the later one, since
-- each server has a clock of its own.
local function forked() return S.epoch == EPOCH and S.version > agreed(VERSION, LINEAGE) end

-- left_of is the lease in what is left, unless a later one was told of or that it is over; and of the state alone that is gone, what its lock key says.
local function left_of()
  if held() and (S.fence > K.last or forked()) then return { fence = S.fence, ticket = S.ticket, granted = S.granted, expires = S.expires } end
  local text = LEFT and redis.call('GET', LOCK)
  local ok, lock = pcall(cjson.decode, text or '')
  if not ok or type(lock) ~= 'table' or not tonumber(lock.fence) then return nil end
  return { fence = tonumber(lock.fence), ticket = tonumber(lock.ticket) or 0, granted = NOW, expires = NOW + redis.call('PTTL', LOCK) }
end

-- go_on_after has later leases begin after those that are known, by whatever clock their times were told.
local function go_on_after()
  local at = math.max(S.over, S.granted, K.over)
  if at > S.over then S.over, change.any, change.lease = at, true, true end
end

-- orphan keeps the lock from everybody until a lease would have ended.
local function orphan(lease)
  if not lease or lease.expires <= NOW or (held() and S.session ~= ORPHANED) then return end
  if S.session == ORPHANED and S.expires >= lease.expires then return end
  S.session, S.seller, S.ticket, S.granted, S.expires = ORPHANED, '', lease.ticket, math.min(lease.granted, NOW), lease.expires
  S.fence = math.max(S.fence, lease.fence)
  no_codes()
  S.open_session, S.open_at, S.open_other = '', 0, 0
  change.any, change.lease, change.codes = true, true, true
end

local function note_loss(from)
  S.noted_from = since(from, S.noted, S.noted_from)
  S.noted = math.max(NOW, S.noted, S.over, K.over) -- no lease is granted, and so none asks, by an earlier time
  S.lost_from, S.lost = since(S.noted_from, S.lost, S.lost_from), math.max(S.lost, S.noted)
  redis.call('HSET', STATE, 'lost', int(S.noted), 'lost_from', int(S.noted_from))
end

-- renew begins the new epoch.
local function renew()
  local of, lease = math.max(S.epoch, EPOCH), left_of()
  local last = LEFT and 0 or LOOKED
  beginning().stay()
  beginning().fill_blank()
  go_on_after()
  for _, f in ipairs(K.places) do compare(f) end
  local kept = carry()
  S.epoch, S.version = math.max(US, of + 1), 0
  S.session, S.seller, S.ticket, S.granted, S.expires, S.claim, S.rank = '', '', 0, 0, 0, 0, nil
  S.lineage = history ~= '' and history .. ':1' or ''
  S.doubt = history ~= '' and NOW + DOUBT or 0 -- else the store is in the one process that there is, or does not say when it changes
  redis.call('HDEL', STATE, 'asks')
  redis.call('HSET', STATE, 'epoch', int(S.epoch), 'lineage', S.lineage, 'doubt', int(S.doubt))
  no_codes()
  S.open_session, S.open_at, S.open_other = '', 0, 0
  change.average, change.any, change.lease, change.codes, news.reset = true, true, true, true, true
  note_loss(last)
  record('epoch', '"kept":[' .. kept .. ']')
  orphan(lease)
end

if LOST then
  renew()
elseif RECORDED then
  wake()
  change.any = true
elseif EPOCH > 0 and EPOCH < S.epoch then
  if not held() or S.session == ORPHANED then go_on_after() end
  for _, f in ipairs(K.places) do compare(f) end
  if S.noted * 1000 < S.epoch - DOUBT * 1000 then
    note_loss(0) -- it began without knowing that anything was lost
  elseif K.over > S.noted then
    note_loss(S.noted_from) -- the clock is behind
  end
end
if LOST or RECORDED or EPOCH < S.epoch then
  if K.ticket > S.tickets then S.tickets, change.any = K.ticket, true end
  if K.fence > S.fence and (not held() or S.session == ORPHANED) then
    S.fence, change.any, change.lease = K.fence, true, true
  elseif K.fence > math.max(S.fence, S.above) then -- the live lease keeps its own
    S.above = K.fence
    redis.call('HSET', STATE, 'above', int(S.above))
  end
  if RECORDED and (K.lost or NOW - K.ended < OPEN_FOR) then note_loss(0) end -- its ask may be open
  if K.lease and K.lease ~= cjson.null then
    orphan({ fence = K.lease.fence, ticket = K.lease.ticket, granted = K.lease.granted, expires = NOW + K.lease.left })
  end
end
commit()
return reply(LOST and 'renewed' or 'ok', '')
