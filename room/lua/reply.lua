-- reply.lua: the reply of a verb: "code view standing", fields joined by one
-- space, "-" for none; reply.go reads it.

-- kept_for returns how long a repeated request gets the same reply (ms).
local function kept_for() return memo.kept_for or (settings.ephemeral and 4 * 1000 or 60 * 1000) end

-- keep_for sets how long the reply of this call is kept (ms).
function reply.keep_for(ms) memo.kept_for = ms end

-- view returns the room as a reply has it:
--   epoch version now waiting hold,spread,lineage paused, and of the lease
--   ticket fence granted expires asked open ask_after,claim_by (no claim_by if there is nothing to claim)
function reply.view()
  local lease = '- - - - - - -'
  if leases.held() then
    lease = int(room.ticket) .. ' ' .. int(room.fence) .. ' ' .. int(room.granted) .. ' ' ..
      int(room.expires) .. ' ' .. int(room.asked) .. ' ' .. int(room.open) .. ' ' .. int(room.ask_after) ..
      (room.claim_by > 0 and ',' .. int(room.claim_by) or '')
  end
  return int(room.epoch) .. ' ' .. int(room.version) .. ' ' .. int(NOW) .. ' ' .. int(line.length()) .. ' ' ..
    room.hold .. ',' .. room.spread .. ',' .. room.lineage .. (room.paused and ' 1 ' or ' 0 ') .. lease
end

-- standing returns a session's own place: "status ticket =seller outcome fence position rank".
-- A waiter whose turn passed unclaimed has the outcome "unclaimed" until its session is back. The seller has
-- a "=" before it, since a seller may be called "-".
function reply.standing(session)
  local p = session ~= '' and places.get(session)
  if not p then return 'idle - - - - - -' end
  local who = ' ' .. int(p.ticket) .. ' =' .. p.seller .. ' '
  if session == room.ended_session then
    return 'ended' .. who .. room.ended_outcome .. ' ' .. int(room.fence) .. ' - -'
  end
  if not p.live then
    return 'ended' .. who .. p.outcome .. ' ' .. (p.fence ~= '' and p.fence or '-') .. ' - -'
  end
  if session == room.session then return 'locked' .. who .. '- ' .. int(room.fence) .. ' - -' end
  local at, rank
  if session == room.joined_last then
    at, rank = line.length(), int(p.ticket)
  else
    at, rank = command('ZRANK', QUEUE, session) + 1, command('ZSCORE', QUEUE, session)
  end
  return 'waiting' .. who .. (p.unclaimed and 'unclaimed' or '-') .. ' - ' .. int(at) .. ' ' .. rank
end

-- make returns a reply with a session's standing.
function reply.make(code, session) return code .. ' ' .. reply.view() .. ' ' .. reply.standing(session) end

-- remember keeps a reply for a repeat of the request, and returns it.
function reply.remember(text)
  if ONCE then command('SET', ONCE, text, 'PX', int(kept_for())) end
  return text
end

-- answer commits the changes and returns the reply, followed by `more`. A repeat of the request gets the
-- same.
function reply.answer(code, session, more)
  state.commit()
  return reply.remember(reply.make(code, session) .. (more or ''))
end

-- refuse commits what time alone has changed, and returns the reply of a refusal, with `more` behind it.
function reply.refuse(code, session, more)
  state.commit()
  return reply.make(code, session or '') .. (more or '')
end

-- repeated returns the kept reply to this request, nil if there is none.
-- A reply that is kept for a short time is kept as long again, since the reply to the repeat may be lost,
-- too.
function reply.repeated()
  local text = ONCE and command('GET', ONCE) or nil
  if text and settings.ephemeral then command('PEXPIRE', ONCE, int(kept_for())) end
  return text
end
