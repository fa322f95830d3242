-- could.lua: which leases could have caused a message, by its time and the asks alone. For assign and letters.

-- caused says whether a lease could have caused what was sent within [from, to): it was live then, or had asked at or before that
-- and not too long before; and when it asked last before, 0 = it did not.
local function caused(lease, from, to)
  local asked = 0
  for _, a in ipairs(lease.asks) do
    if a.at < to and from - a.at <= OPEN_FOR then asked = math.max(asked, a.at) end
  end
  local live = lease.granted < to and (lease.current or lease.ended > from or (lease.ended == lease.granted and lease.granted >= from))
  return live or asked > 0, asked
end

-- could lists the leases that could have caused it, the latest first, with the time that each asked last.
local function could(from, to)
  local list = {}
  local function consider(lease)
    local yes, asked = caused(lease, from, to)
    if yes then list[#list + 1] = { lease, asked } end
  end
  local live = current()
  if live then consider(live) end
  for lease in past(to, 8) do
    if lease.ended < from - OPEN_FOR then break end
    consider(lease)
  end
  return list
end

return caused, could
