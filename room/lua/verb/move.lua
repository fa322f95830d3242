-- move: support moves a waiter to another position.
--
-- Its rank becomes one between its new neighbours'; if no number is left there, the line is renumbered.
--
-- args:
--   ticket    of the waiter
--   position  from 1; past the end = the last one
--   action    JSON members for the journal
-- Codes: ok, stale_ticket (no waiter has it) Publishes the waiter's new rank, or that every replica has to
-- read the whole room.

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
  if not before then return after - 1 end
  after = after or room.tickets + 1
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

function verb.move()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  local session = line.by_ticket(args.ticket)
  if not session then return reply.refuse('stale_ticket') end

  local p = places.get(session)
  local from, was = command('ZSCORE', QUEUE, session), command('ZRANK', QUEUE, session) + 1
  local at = min(max(args.position, 1), line.length())
  support.record(args.action, { ticket = args.ticket, seller = p.seller, from_position = was,
    to_position = at })
  if was == at then return reply.answer('ok', '') end

  command('ZREM', QUEUE, session)
  local kept = tonumber(room.rank_until_claimed)
  local rank = rank_between(at, kept)
  if rank then
    command('ZADD', QUEUE, format('%.17g', rank), session)
  else
    renumber(session, at, kept)
    rank = at
  end

  journal.record('moved', { ticket = args.ticket, seller = p.seller, position = at })
  p.session, p.rank, p.from = session, format('%.17g', rank), from
  event.add('moved', p)
  support.notify(session, 'moved')
  change.any = true
  return reply.answer('ok', '')
end
