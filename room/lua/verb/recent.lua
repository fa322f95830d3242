-- recent: the recent messages that support looks at: those that belong to no lease, or came late.
--
-- Returns a list: "ok view standing(-)", then the messages, the earliest first. No session is in it.
--   a message  "digest|fence|ticket|result|reason|code|received(ms)|from(ms)|to(ms)|unclaimed|sealed", and
--              behind a space each lease that could have caused it (asks.causes); code, unclaimed: 1 = yes
--   a lease    "fence|ticket|=seller|granted(ms)|ended(ms)|asked(ms, 0 = it did not)|1 = live"

local function cause_text(cause)
  local l, asked = cause[1], cause[2]
  return concat({ int(l.fence), int(l.ticket), '=' .. l.seller, int(l.granted), int(l.ended),
    int(asked), l.current and '1' or '0' }, '|')
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

local function message_text(m, parties)
  local unclaimed = m.state == 'o' and leases.held() and m.fence == room.fence
  local late = m.result == 'late'
  local fence, ticket = (unclaimed or late) and int(m.fence) or '0', late and int(m.ticket) or '0'
  local parts = { concat({ m.digest, fence, ticket, m.result, m.reason, m.code and '1' or '0',
    m.received, int(m.from), int(m.to), unclaimed and '1' or '0', m.sealed }, '|') }
  local owner = not m.either and (parties['s' .. m.same] or parties['w' .. m.whole]) or nil
  for _, cause in ipairs(asks.causes(m.from, m.to)) do
    if not owner or owner == cause[1].party then parts[#parts + 1] = cause_text(cause) end
  end
  return concat(parts, ' ')
end

function verb.recent()
  state.observe()
  local parties, out = owners(), { reply.make('ok', '') }
  for m in messages.recent() do
    if m.result ~= 'matched' then out[#out + 1] = message_text(m, parties) end
  end
  return out
end
