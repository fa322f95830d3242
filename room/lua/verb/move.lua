-- move: support moves a waiter to another position. Its rank becomes one between its new neighbours'; where no number is left between them, the whole
-- line is renumbered.
-- Codes: ok, stale_ticket

-- rank_at is the rank at a position of the line, nil for none.
local function rank_at(position)
  return position >= 1 and tonumber(redis.call('ZRANGE', QUEUE, position - 1, position - 1, 'WITHSCORES')[2]) or nil
end

function verb.move()
  local repeated = reply.repeated()
  if repeated then return repeated end
  advance()

  local session = line.by_ticket(args.ticket)
  if not session then return reply.refuse('stale_ticket') end

  local seller = places.get(session).seller
  local from, was = redis.call('ZSCORE', QUEUE, session), redis.call('ZRANK', QUEUE, session) + 1
  local at = math.min(math.max(args.position, 1), line.length())
  local positions = string.format(',"from_position":%d,"to_position":%d', was, at)
  support.record(args.action ~= '' and args.action .. positions or '', args.ticket, nil, seller)
  if was == at then return reply.answer('ok', '') end -- there already

  redis.call('ZREM', QUEUE, session)
  local before, after = rank_at(at - 1), rank_at(at)
  -- A holder that may have to come back into the line, unclaimed, keeps its rank: a waiter that would get that one is behind it.
  local kept = tonumber(room.rank_until_claimed)
  if kept and (not before or kept > before) and (not after or kept < after) then before = kept end
  local rank = before and (before + (after or room.tickets + 1)) / 2 or after - 1
  if before and (rank <= before or rank >= (after or room.tickets + 1)) then
    if kept then
      local ahead = redis.call('ZCOUNT', QUEUE, '-inf', '(' .. room.rank_until_claimed)
      room.rank_until_claimed, change.lease = string.format('%.1f', ahead + (at <= ahead and 1 or 0) + 0.5), true
    end
    local waiters = redis.call('ZRANGE', QUEUE, 0, -1)
    table.insert(waiters, at, session)
    for i, s in ipairs(waiters) do redis.call('ZADD', QUEUE, i, s) end
    rank, news.reset = at, true
  else
    redis.call('ZADD', QUEUE, string.format('%.17g', rank), session)
  end

  journal.record('moved', string.format('"ticket":%d,"seller":"%s","position":%d', args.ticket, seller, at))
  event.add('moved', string.format('{"session":"%s","ticket":%d,"rank":%.17g,"from":%s,"unclaimed":%s}', session, args.ticket, rank, from,
    tostring(places.get(session).unclaimed)))
  support.notify(session, 'moved')
  change.any = true
  return reply.answer('ok', '')
end
