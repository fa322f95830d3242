-- roster: the line at one version, with its sellers, for the desk's mirror. No session is in it.
--
-- args:
--   most  how many waiters are listed, from the first; 0 = all
-- Returns a reply with `holder`, `holder_joined`, `places`, `ranks` and `away`: see wire.Reply.

local PART = 1000 -- more values than about 8,000 at once do not fit on Lua's stack

-- add adds the members of a list to another.
local function add(to, list)
  for i = 1, #list do to[#to + 1] = list[i] or '0' end
end

function verb.roster()
  local holder = leases.held() and places.get(room.session)
  local some_away = command('ZCARD', AWAY) > 0
  local stored, ranks, away = {}, {}, {}
  local last = (args.most > 0 and min(args.most, line.length()) or line.length()) - 1
  for from = 0, last, PART do
    local waiters = command('ZRANGE', QUEUE, from, min(from + PART - 1, last), 'WITHSCORES')
    local sessions = {}
    for i = 1, #waiters, 2 do
      sessions[#sessions + 1], ranks[#ranks + 1] = waiters[i], waiters[i + 1]
    end
    add(stored, command('HMGET', PLACES, unpack(sessions)))
    if some_away then add(away, command('ZMSCORE', AWAY, unpack(sessions))) end
  end
  return 'ok', nil, '"holder":"' .. (leases.held() and room.seller or '') .. '","holder_joined":' ..
    int(holder and holder.joined or 0) .. ',"places":[' .. concat(stored, ',') .. '],"ranks":[' ..
    concat(ranks, ',') .. '],"away":[' .. concat(away, ',') .. ']'
end
