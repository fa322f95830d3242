-- look: the room, and some sessions' standings and messages.
--
-- args:
--   sessions  '' = a caller without a session
-- Returns a reply with `seats`: for each session its place and its messages, see wire.ShownMessage.

-- recent_by_session returns each session's recent messages, as pairs of a digest and when it is forgotten.
local function recent_by_session()
  local of, list = {}, command('ZRANGEBYSCORE', INBOX, '(' .. int(NOW), '+inf', 'WITHSCORES')
  for i = 1, #list, 2 do
    local digest, session = list[i]:match('^([^|]*)|([^|]*)|')
    if session ~= '' then
      of[session] = of[session] or {}
      table.insert(of[session], { digest, list[i + 1] })
    end
  end
  return of
end

-- kind_for returns the kind of a message as its session is shown it, nil or false if it is not shown.
-- Of its earlier leases a session is shown late messages only, since a code of the turn before is of no use
-- in this one. A waiter whose place support put back is still shown those of the turn that support ended.
local function kind_for(m, session, fence, ticket)
  if m.state == 's' then return (m.result == 'late' or m.fence == fence or m.ticket == ticket) and 'm' end
  if m.state == 'w' then return m.fence == fence and 'w' end
  return m.state == 'o' and session == room.session and m.fence == room.fence and 'o'
end

-- shown_to returns what a session is shown of its messages, also of its last lease if that was not claimed.
local function shown_to(session, list)
  local p = list and places.get(session)
  if not p then return {} end
  local holds = session == room.session or session == memo.ended_session
  local before = p.restored > 0 and p.restored
  local fence, out = holds and room.fence or p.live and p.missed or p.fence, {}
  for _, entry in ipairs(list) do
    local m = messages.get(entry[1])
    local kind = m and kind_for(m, session, fence, not holds and before)
    if kind then
      if m.ticket == before then m.ticket = p.ticket end
      out[#out + 1] = wire.shown_message({ kind = kind, digest = m.digest, ticket = m.ticket, fence = m.fence,
        late = m.result == 'late', received = m.received, forget_at = entry[2], sealed = m.sealed })
    end
  end
  return out
end

function verb.look()
  local of, seats = recent_by_session(), {}
  for i, session in ipairs(args.sessions) do
    local shown = session ~= '' and shown_to(session, of[session]) or {}
    seats[i] = '{"place":' .. reply.place(session) .. ',"messages":[' .. concat(shown, ',') .. ']}'
  end
  return 'ok', nil, '"seats":[' .. concat(seats, ',') .. ']'
end
