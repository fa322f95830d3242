-- places.lua: the places of sessions: one for each session that holds, waits, or did so lately.
--
-- PLACES has of a live place "live|ticket|seller|joined|channel|lease|asks". If its turn
-- passed unclaimed, "|u" is behind it, or "|b" once the session is back, each with the fence of
-- the lease that it did not claim. Of a place that has ended PLACES has
-- "OUTCOME|ticket|seller|ended|fence|m if a message ended the lease|".

local FORGETTING = 8 -- one ending place in so many deletes a few outcomes that were kept for long enough

local function parse(text)
  local outcome, ticket, seller, at, channel, lease, asks_first, turn =
    text:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|?([^|]*)|?(.*)$')
  local live = outcome == 'live'
  return { live = live, outcome = not live and outcome or nil, ticket = ticket + 0, seller = seller,
    at = at + 0, channel = live and channel or '', fence = not live and channel or nil,
    lease = live and tonumber(lease) or nil, by_message = not live and lease == 'm', asks = asks_first == '1',
    unclaimed = turn:byte() == 117, missed = turn ~= '' and turn:sub(2) or nil } -- byte 117 is the letter u
end

-- live_text returns a live place as PLACES has it; `turn` is its last field, nil for none.
function places.live_text(p, turn)
  return 'live|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(p.at) .. '|' .. p.channel .. '|' ..
    (p.lease and int(p.lease) or '') .. (p.asks and '|1' or '|0') .. (turn and '|' .. turn or '')
end

-- get returns a session's place, nil for none. Only places.put changes it.
function places.get(session)
  local p = memo.places[session]
  if p == nil then
    local text = command('HGET', PLACES, session)
    p = text and parse(text)
    memo.places[session] = p
  end
  return p or nil
end

-- put writes `text` as a session's place, or deletes the place if `text` is nil.
-- `p` is the same place as a table, which get returns for the rest of the call; if it is nil, the next get
-- reads Redis.
function places.put(session, text, p)
  memo.places[session] = p
  if not text then return command('HDEL', PLACES, session) end
  command('HSET', PLACES, session, text)
  if settings.ephemeral and line.length() == 0 and (not leases.held() or room.session == ORPHANED) then
    memo.new_keys[PLACES] = true -- this place may be the first one
  end
end

-- forget_old deletes a few outcomes that were kept for long enough.
local function forget_old()
  local before = int(NOW - settings.ended_kept)
  local old = command('ZRANGEBYSCORE', ENDED, '-inf', before, 'LIMIT', '0', int(4 * FORGETTING))
  if #old == 0 then return end
  command('ZREM', ENDED, unpack(old))
  command('HDEL', PLACES, unpack(old))
  for _, session in ipairs(old) do memo.places[session] = nil end
end

-- keep_outcome writes how a place ended, for its session to read. ENDED has the time of this call, not `at`:
-- a call may notice an end late, and the outcome is kept for the full time from then on.
local function keep_outcome(session, p, outcome, at, fence, by_message)
  local fence_text = fence and int(fence) or ''
  local text = outcome .. '|' .. int(p.ticket) .. '|' .. p.seller .. '|' .. int(at) .. '|' .. fence_text ..
    (by_message and '|m|' or '||')
  places.put(session, text, { live = false, outcome = outcome, ticket = p.ticket, seller = p.seller, at = at,
    channel = '', fence = fence_text, by_message = by_message })
  command('ZADD', ENDED, int(NOW), session)
  if p.ticket % FORGETTING == 0 then forget_old() end
end

-- finish ends a place, publishes that and journals it.
-- `rank` is a waiter's rank, `fence` a holder's fence; by_message is true if a message ended the lease.
function places.finish(session, p, outcome, at, fence, rank, by_message)
  if p.seller ~= '' then command('HDEL', SELLERS, p.seller) end
  if settings.ended_kept > 0 then
    keep_outcome(session, p, outcome, at, fence, by_message)
  else
    places.put(session, nil, false)
  end
  local fence_json = fence and ',"fence":' .. int(fence) or ''
  if settings.events ~= '' then
    event.add('ended', '{"session":"' .. session .. '","ticket":' .. int(p.ticket) ..
      ',"seller":"' .. p.seller .. '","outcome":"' .. outcome .. '","at":' .. int(at) .. fence_json ..
      (rank and ',"rank":' .. rank or '') .. '}')
  end
  journal.record('ended', '"ticket":' .. int(p.ticket) .. ',"seller":"' .. p.seller .. '","outcome":"' ..
    outcome .. '","ended_at":' .. int(at) .. fence_json)
  change.any = true
end
