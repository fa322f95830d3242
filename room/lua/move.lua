-- move.lua: support moves a waiter to another position. Its rank becomes one between its new
-- neighbours'; where no number is left between them, the whole line is renumbered.
-- Codes: ok, stale_ticket

local told = repeated()
if told then return told end
advance()

local session = waiter(TICKET)
if not session then return refuse('stale_ticket') end

local seller = place(session).seller
local from = redis.call('ZSCORE', QUEUE, session)
local was, at = redis.call('ZRANK', QUEUE, session) + 1, math.min(math.max(POSITION, 1), waiting())
act(ACTION ~= '' and string.format('%s,"from_position":%d,"to_position":%d', ACTION, was, at) or '', TICKET, nil, seller)
if was == at then return answer('ok', '') end -- there already

redis.call('ZREM', QUEUE, session)
local function rank_at(position)
  return position >= 1 and tonumber(redis.call('ZRANGE', QUEUE, position - 1, position - 1, 'WITHSCORES')[2]) or nil
end
local before, after = rank_at(at - 1), rank_at(at)
-- Who may have to come back into the line, unclaimed, keeps its rank: nobody is given that one, and who would be is behind it.
local kept = tonumber(S.rank)
if kept and (not before or kept > before) and (not after or kept < after) then before = kept end
local rank = before and (before + (after or S.tickets + 1)) / 2 or after - 1
if before and (rank <= before or rank >= (after or S.tickets + 1)) then
  if kept then
    local ahead = redis.call('ZCOUNT', QUEUE, '-inf', '(' .. S.rank)
    S.rank, change.lease = string.format('%.1f', ahead + (at <= ahead and 1 or 0) + 0.5), true
  end
  local line = redis.call('ZRANGE', QUEUE, 0, -1)
  table.insert(line, at, session)
  for i, s in ipairs(line) do redis.call('ZADD', QUEUE, i, s) end
  rank, news.reset = at, true
else
  redis.call('ZADD', QUEUE, string.format('%.17g', rank), session)
end

record('moved', string.format('"ticket":%d,"seller":"%s","position":%d', TICKET, seller, at))
tell('moved', string.format('{"session":"%s","ticket":%d,"rank":%.17g,"from":%s,"unclaimed":%s}', session, TICKET, rank, from,
  tostring(place(session).unclaimed)))
helped(session, 'moved')
change.any = true
return answer('ok', '')
