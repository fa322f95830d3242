-- roster: the line at one version, with its sellers, for the desk's mirror. No session is in it.
--
-- args:
--   most  how many waiters are listed, from the first; 0 = all
-- Returns a list:
--   1  "ok view standing(-)"
--   2  "=holder's seller(-) joined(ms)"
--   then of each part of the line, in order, three lists joined by one space:
--      its places, as PLACES has them
--      their ranks
--      since when each is away (ms, 0 = it is not); "" if none is

local PART = 1000 -- more values than about 8,000 at once do not fit on Lua's stack

-- away_since returns since when each of some sessions is away.
local function away_since(sessions)
  local since = command('ZMSCORE', AWAY, unpack(sessions))
  for i = 1, #sessions do since[i] = since[i] or '0' end
  return concat(since, ' ')
end

function verb.roster()
  state.observe()
  local holder = leases.held() and places.get(room.session)
  local some_away = command('ZCARD', AWAY) > 0
  local out = { reply.make('ok', ''),
    (leases.held() and '=' .. room.seller or '-') .. ' ' .. int(holder and holder.at or 0) }
  local last = (args.most > 0 and min(args.most, line.length()) or line.length()) - 1
  for from = 0, last, PART do
    local waiters = command('ZRANGE', QUEUE, from, min(from + PART - 1, last), 'WITHSCORES')
    local sessions, ranks = {}, {}
    for i = 1, #waiters, 2 do
      sessions[#sessions + 1], ranks[#ranks + 1] = waiters[i], waiters[i + 1]
    end
    out[#out + 1] = concat(command('HMGET', PLACES, unpack(sessions)), ' ')
    out[#out + 1] = concat(ranks, ' ')
    out[#out + 1] = some_away and away_since(sessions) or ''
  end
  return out
end
