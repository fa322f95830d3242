-- past_leases.lua: the leases of the room that have ended, and what they asked for.

-- An ask is { n, at, answered, filter }: its number in the lease, when, the digest of the message that answered it ("" = it
-- is open), and what the message must be like (for Go to read; "" = like anything). In text: "n,at,answered,filter;…".
local function parse_asks(text)
  local asks = {}
  for n, at, answered, filter in (text or ''):gmatch('(%d+),(%d+),([^,]*),([^;]*);') do
    asks[#asks + 1] = { n = n + 0, at = at + 0, answered = answered, filter = filter }
  end
  return asks
end

-- parse_lease reads an ended lease. Its party is its session together with its seller: with open identity one session may join as several sellers. A lease
-- that an older program wrote says nothing of codes: it counts as answered.
local function parse_lease(text, granted)
  local fence, ticket, ended, session, seller, codes, asks = text:match('^(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|?([^|]*)|?([^|]*)')
  local asking, code, rejects = codes:match('^(%d),(%d+),(%d+)$')
  return { fence = fence + 0, ticket = ticket + 0, ended = ended + 0, session = session, seller = seller, granted = granted + 0,
    asking = asking == '1', codes = (code or 1) + 0, rejects = (rejects or 0) + 0, asks = parse_asks(asks), text = text, party = session .. '=' .. seller }
end

-- past lists them, the latest first, as an iterator; with `to` those that were granted before it. It reads `step` at a time.
local function past(to, step)
  local from, i, list = 0, 1, {}
  return function()
    if i > #list then
      list = redis.call('ZREVRANGEBYSCORE', LEASES, to and '(' .. int(to) or '+inf', '-inf', 'WITHSCORES', 'LIMIT', int(from), int(step))
      from, i = from + step, 1
      if #list == 0 then return nil end
    end
    i = i + 2
    return parse_lease(list[i - 2], list[i - 1])
  end
end

-- last_open is when an ended lease asked last for what has not come: at its end, where it was not asking and no code came,
-- since it may have asked at any time; nil where nothing is open.
local function last_open(lease)
  if not lease.asking then return lease.codes == 0 and lease.ended or nil end
  local at
  for _, ask in ipairs(lease.asks) do
    if ask.answered == '' and ask.at > (at or -1) then at = ask.at end
  end
  return at
end

return { parse_asks = parse_asks, past = past, last_open = last_open }
