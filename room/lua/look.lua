-- look.lua: how the room is and how some sessions stand.
-- Returns a list: "ok view", then for each session its standing, and what it is shown ("" = nothing): of each message
-- "m" (it is its own), "o" (it is offered) or "w" (the ledger is asked whether it is its own)|digest|fence|1 = late|received(ms)|forget at(ms)|sealed, joined by one space.

-- of lists the messages of the last minutes by their session.
local of = {}
do
  local list = redis.call('ZRANGEBYSCORE', INBOX, '(' .. int(NOW), '+inf', 'WITHSCORES')
  for i = 1, #list, 2 do
    local digest, session = list[i]:match('^([^|]*)|([^|]*)|')
    if session ~= '' then
      of[session] = of[session] or {}
      table.insert(of[session], { digest, list[i + 1] })
    end
  end
end

-- shown_to are the messages of the session's own last lease, also of one that it did not claim, and late ones of its earlier leases: a code of the turn before is not
-- for this one.
local function shown_to(session)
  local p = of[session] and place(session)
  if not p then return '' end
  local fence, out = (session == S.session or session == S.over_session) and S.fence or tonumber(p.fence or p.missed or '') or -1, {}
  for _, entry in ipairs(of[session]) do
    local m = message(entry[1])
    local kind = m and ((m.state == 's' and (m.late or m.fence == fence) and 'm') or
      (m.state == 'w' and m.fence == fence and 'w') or (m.state == 'o' and session == S.session and m.fence == S.fence and 'o'))
    if kind then
      out[#out + 1] = table.concat({ kind, m.digest, int(m.fence), m.late and '1' or '0', m.received, entry[2], m.sealed }, '|')
    end
  end
  return table.concat(out, ' ')
end

local out = { 'ok ' .. view() }
for _, session in ipairs(SESSIONS) do
  out[#out + 1] = standing(session)
  out[#out + 1] = session ~= '' and shown_to(session) or ''
end
return out
