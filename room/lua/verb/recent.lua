-- recent: the recent messages that support looks at: those that belong to no lease, or came late.
--
-- Returns a reply with `messages`, the earliest first: see wire.RecentMessage. No session is in it.

-- candidate returns a lease that could have caused a message, as asks.causes lists it.
local function candidate(cause)
  local l, asked = cause[1], cause[2]
  return { fence = l.fence, ticket = l.ticket, seller = l.seller, granted = l.granted, ended = l.ended,
    asked = asked, live = l.current }
end

-- owners returns the parties that messages belong to, by the digests that duplicates of these messages have
-- too.
-- A duplicate can belong to no other party.
local function owners()
  local parties = {}
  for m in messages.recent() do
    if m.state == 's' or m.state == 'w' then
      local l = leases.by_fence(m.fence)
      parties['s' .. m.same] = l and l.party
      if m.whole ~= '' then parties['w' .. m.whole] = l and l.party end
    end
  end
  return parties
end

local function message_json(m, parties)
  local unclaimed = m.state == 'o' and leases.held() and m.fence == room.fence
  local late = m.result == 'late'
  local owner = not m.either and (parties['s' .. m.same] or parties['w' .. m.whole]) or nil
  local could = {}
  for _, cause in ipairs(asks.causes(m.from, m.to)) do
    if not owner or owner == cause[1].party then could[#could + 1] = candidate(cause) end
  end
  return wire.recent_message({ digest = m.digest, fence = (unclaimed or late) and m.fence or 0,
    ticket = late and m.ticket or 0, result = m.result, reason = m.reason, code = m.code ~= '',
    received = m.received, from = m.from, to = m.to, offered = unclaimed, sealed = m.sealed,
    could = #could > 0 and could or nil })
end

function verb.recent()
  local parties, out = owners(), {}
  for m in messages.recent() do
    if m.result ~= 'matched' then out[#out + 1] = message_json(m, parties) end
  end
  return 'ok', nil, '"messages":[' .. concat(out, ',') .. ']'
end
