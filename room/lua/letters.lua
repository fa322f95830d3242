-- letters.lua: the messages of the last ten minutes that support looks at: they belong to no lease, or came late.
-- Returns a list: "ok view standing(-)", then of each message, the earliest first, "digest|fence|ticket|result|reason|1 = there is a
-- code in it|received(ms)|from(ms)|to(ms)|1 = it is offered|sealed", and behind a space each of the leases that could have caused it
-- (see could.lua): "fence|ticket|=seller|granted(ms)|ended(ms)|asked(ms, 0 = it did not)|1 = live". No session is in it.

local function lease_of(candidate)
  local l, asked = candidate[1], candidate[2]
  return table.concat({ int(l.fence), int(l.ticket), '=' .. l.seller, int(l.granted), int(l.ended), int(asked), l.current and '1' or '0' }, '|')
end

-- somebodys is by what is the same message, where one belongs to a lease: the others can be no other party's; see kin in inbox.lua.
local somebodys = {}
for m in recent() do
  if m.state == 's' or m.state == 'w' then
    local l = by_fence(m.fence)
    somebodys['s' .. m.same] = l and l.party
    if m.whole ~= '' then somebodys['w' .. m.whole] = l and l.party end
  end
end
local function owner(m) return not m.either and (somebodys['s' .. m.same] or somebodys['w' .. m.whole]) or nil end

local function letter(m)
  local offered = m.state == 'o' and held() and m.fence == S.fence
  local mine = offered or m.result == 'late'
  local parts = { table.concat({ m.digest, mine and int(m.fence) or '0', m.result == 'late' and int(m.ticket) or '0', m.result, m.reason,
    m.code and '1' or '0', m.received, int(m.from), int(m.to), offered and '1' or '0', m.sealed }, '|') }
  local only = owner(m)
  for _, candidate in ipairs(could(m.from, m.to)) do
    if not only or only == candidate[1].party then parts[#parts + 1] = lease_of(candidate) end
  end
  return table.concat(parts, ' ')
end

local out = { reply('ok', '') }
for m in recent() do
  if m.result ~= 'matched' then out[#out + 1] = letter(m) end
end
return out
