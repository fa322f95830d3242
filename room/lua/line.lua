-- line.lua: the waiters in their order, and which of them is granted the lock next.

-- length returns how many sessions wait.
function line.length()
  memo.waiting = memo.waiting or command('ZCARD', QUEUE)
  return memo.waiting
end

-- has returns a session's rank in the line, nil if it does not wait.
function line.has(session) return room.epoch > 0 and command('ZSCORE', QUEUE, session) or nil end

-- enqueue puts a session into the line. It may be there already, if Redis lost only its place.
function line.enqueue(session, rank)
  memo.waiting = line.length() + command('ZADD', QUEUE, rank, session)
  if memo.waiting == 1 then memo.new_keys[QUEUE] = true end
end

-- remake puts waiters back that have a place and are in the line no more: Redis has lost the line alone, by
-- an eviction. Their ranks are their tickets again, whatever support had moved.
function line.remake()
  local holders = leases.held() and room.session ~= ORPHANED and 1 or 0
  if command('HLEN', PLACES) - command('ZCARD', ENDED) - holders <= line.length() then return end
  local list = command('HGETALL', PLACES)
  for i = 1, #list, 2 do
    local session, p = list[i], wire.read_stored_place(list[i + 1])
    if p.outcome == '' and session ~= room.session and not line.has(session) then
      line.enqueue(session, int(p.ticket))
      change.any, news.reset = true, true
    end
  end
end

-- rank_at returns the rank at a position of the line, nil for none.
local function rank_at(position)
  if position < 1 then return nil end
  return tonumber(command('ZRANGE', QUEUE, position - 1, position - 1, 'WITHSCORES')[2])
end

-- rank_between returns a rank for position `at`, nil if no number is left between its neighbours.
-- `kept` is the rank of a holder that has not claimed its lease. If the holder never claims it, the holder
-- waits again with that rank. So no waiter may have that rank: a waiter moved there goes behind it.
local function rank_between(at, kept)
  local before, after = rank_at(at - 1), rank_at(at)
  if kept and (not before or kept > before) and (not after or kept < after) then before = kept end
  after = after or room.tickets + 1
  if not before then return after - 1 end
  local rank = (before + after) / 2
  if rank > before and rank < after then return rank end
end

-- renumber gives the whole line new ranks, with a session at position `at`, and moves the kept rank along.
local function renumber(session, at, kept)
  if kept then
    local ahead = command('ZCOUNT', QUEUE, '-inf', '(' .. room.rank_until_claimed)
    room.rank_until_claimed = format('%.1f', ahead + (at <= ahead and 1 or 0) + 0.5)
    change.lease = true
  end
  local waiters = command('ZRANGE', QUEUE, 0, -1)
  table.insert(waiters, at, session)
  for i, waiter in ipairs(waiters) do command('ZADD', QUEUE, i, waiter) end
  news.reset = true
end

-- insert puts a session, which QUEUE does not have, at position `at` of the line and returns its rank: one
-- between its new neighbours'. If no number is left there, it renumbers the line.
function line.insert(session, at)
  local kept = tonumber(room.rank_until_claimed)
  local rank = rank_between(at, kept)
  memo.waiting = nil
  if rank then
    command('ZADD', QUEUE, format('%.17g', rank), session)
    return format('%.17g', rank)
  end
  renumber(session, at, kept)
  return int(at)
end

local function dequeue(session) memo.waiting = line.length() - command('ZREM', QUEUE, session) end

-- remove takes a waiter out of the line, and deletes its presence.
function line.remove(session)
  dequeue(session)
  command('ZREM', SEEN, session)
  command('ZREM', AWAY, session)
end

-- leave ends the place of a waiter.
function line.leave(session, outcome)
  local rank = command('ZSCORE', QUEUE, session)
  line.remove(session)
  places.finish(session, places.get(session), outcome, NOW, nil, rank)
end

-- first returns the first waiter that is not away, its rank, and until when SEEN has it as connected.
local function first()
  local from, step = 0, 1
  while true do
    local waiters = command('ZRANGE', QUEUE, int(from), int(from + step - 1), 'WITHSCORES')
    if #waiters == 0 then return nil end
    for i = 1, #waiters, 2 do
      local session = waiters[i]
      if not command('ZSCORE', AWAY, session) then
        local seen = command('ZSCORE', SEEN, session)
        local until_ms = tonumber(seen or NOW)
        local gone = presence.gone_for(until_ms, settings.away_after)
        if not gone or not presence.mark_away(session, until_ms) then
          return session, waiters[i + 1], seen
        end
      end
    end
    if from == 0 and command('ZCARD', AWAY) == line.length() then return nil end -- all are away
    from, step = from + step, 64
  end
end

-- grant_first grants the free lock to the first waiter that is not away.
function line.grant_first()
  local session, rank, seen = first()
  if not session then return end
  local claim_by = presence.claim_deadline(session)
  dequeue(session)
  if seen then
    command('ZREM', SEEN, session)
    presence.remember_browser(session)
  end
  local p = places.get(session)
  memo.grant_channel = p.channel
  leases.grant(session, p, rank, claim_by)
end

-- by_ticket returns the waiter with a ticket, nil for none. Its rank is the ticket, unless support moved it.
-- With the member 'restored' it returns the waiter whose place was put back for the one with that ticket.
function line.by_ticket(ticket, member)
  local waiters = command('ZRANGEBYSCORE', QUEUE, int(ticket), int(ticket))
  local from, step = 0, 500
  repeat
    local texts = #waiters > 0 and command('HMGET', PLACES, unpack(waiters)) or {}
    for i, text in ipairs(texts) do
      if text and wire.read_stored_place(text)[member or 'ticket'] == ticket then return waiters[i] end
    end
    waiters, from = command('ZRANGE', QUEUE, from, from + step - 1), from + step
  until #waiters == 0
end
