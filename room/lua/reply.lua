-- reply.lua: the reply of a verb, as wire.Reply: JSON with the code, the room's view and a session's place.

-- kept_for returns how long a repeated request gets the same reply (ms).
local function kept_for() return memo.kept_for or (settings.ephemeral and 4 * 1000 or 60 * 1000) end

-- keep_for sets how long the reply of this call is kept (ms), 0 = not at all.
function reply.keep_for(ms) memo.kept_for = ms end

-- ended returns the JSON of a place that has ended.
local function ended(p, outcome, fence)
  return wire.place({ status = 'ended', ticket = p.ticket, seller = p.seller, outcome = outcome,
    fence = fence })
end

-- place returns the JSON of a session's own place. A waiter's has the place's marks, so it is made from p.
function reply.place(session)
  local p = session ~= '' and places.get(session)
  if not p then return '{"status":"idle"}' end
  if session == memo.ended_session then return ended(p, memo.ended_outcome, room.fence) end
  if not p.live then return ended(p, p.outcome, p.fence) end
  if session == room.session then
    return wire.place({ status = 'locked', ticket = p.ticket, seller = p.seller, fence = room.fence })
  end
  p.status = 'waiting'
  if session == memo.joined_last then
    p.position = line.length()
  else
    p.position, p.rank = command('ZRANK', QUEUE, session) + 1, command('ZSCORE', QUEUE, session)
  end
  return wire.place(p)
end

-- make returns a reply with a session's place, nil = no session's; `more` is further JSON members. It joins
-- all in one step, since Lua takes long to make a text.
function reply.make(code, session, more)
  local held, place = leases.held(), session and reply.place(session)
  return '{"code":"' .. code .. '","now":' .. int(NOW) .. ',"waiting":' .. int(line.length()) .. ',' ..
    state.room_json() .. (held and ',"lease":{' or '') .. (held and state.lease_json() or '') ..
    (held and '}' or '') .. (place and ',"place":' or '') .. (place or '') .. (more and ',' or '') ..
    (more or '') .. '}'
end

-- keep keeps the reply for a repeat of the request.
function reply.keep(text)
  local ms = ONCE and kept_for() or 0
  if ms > 0 then command('SET', ONCE, text, 'PX', int(ms)) end
end

-- repeated returns the kept reply to this request, nil if there is none.
-- A reply that is kept for a short time is kept as long again, since the reply to the repeat may be lost,
-- too.
function reply.repeated()
  local text = ONCE and command('GET', ONCE) or nil
  if text and settings.ephemeral then command('PEXPIRE', ONCE, int(kept_for())) end
  return text
end
