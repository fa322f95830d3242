-- tell.lua: writing what changed, once, and saying so: the event, the journal, the reply. For every verb.

local function lease_json(more)
  if not held() then return 'null' end
  return '{"session":"' .. S.session .. '","ticket":' .. int(S.ticket) .. ',"fence":' .. int(S.fence) .. ',"granted_at":' .. int(S.granted) .. ',"expires_at":' .. int(S.expires) ..
    ',"asked":' .. int(S.asked) .. ',"open":' .. int(S.open) .. ',"ask_after":' .. int(S.ask_after) .. (S.claim > 0 and ',"claim_by":' .. int(S.claim) or '') ..
    (news.rank and ',"rank":' .. news.rank or '') .. more .. '}'
end

-- write_state writes the fields of the state that have changed.
local function write_state(looked)
  local fields, n = { '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '' }, 0 -- room for 12 pairs; more make it grow
  local function put(name, value)
    if state[name] == value then return end
    state[name], fields[n + 1], fields[n + 2] = value, name, value
    n = n + 2
  end
  if S.begun then
    put('epoch', int(S.epoch)); put('lineage', S.lineage)
  end
  if looked then
    put('looked', int(math.max(NOW, S.looked))); put('trust', int(S.trust)) -- a clock that went back is set_back's to note
  end
  if S.format ~= WRITES then put('format', int(WRITES)) end
  local claim = S.rank and string.format('%d|%d|%s', S.fence, S.claim, S.rank) or ''
  if claim ~= S.claim_text then put('claim', claim) end
  if change.any then
    put('version', int(S.version)); put('tickets', int(S.tickets)); put('paused', S.paused and '1' or '0')
  end
  if change.lease then
    put('session', S.session); put('seller', S.seller); put('ticket', int(S.ticket)); put('granted', int(S.granted))
    put('expires', int(S.expires)); put('over', int(S.over)); put('fence', int(S.fence))
  end
  if change.average then
    put('hold', S.hold_text); put('spread', S.spread_text); put('holds', int(S.holds))
  end
  if change.codes then
    put('codes', (S.asking and '1|' or '0|') .. int(S.asked) .. '|' .. int(S.open) .. '|' .. int(S.ask_after) .. '|' .. int(S.codes) .. (S.put_off and '|1|' or '|0|') ..
      int(S.rejects) .. '|' .. int(S.last_ask))
    if S.awaited > 0 or state.awaited then put('awaited', int(S.awaited) .. '|' .. S.awaits) end
    put('unanswered', S.open_session .. '|' .. int(S.open_at) .. '|' .. int(S.open_other))
  end
  if n > 0 then redis.call('HSET', STATE, unpack(fields, 1, n)) end
end

local function listed(list) return news[list] and table.concat(news[list], ',') or '' end

local function event_json()
  return '{"format":' .. int(WRITES) .. ',"epoch":' .. int(S.epoch) .. ',"version":' .. int(S.version) .. ',"lineage":"' .. S.lineage .. '","now":' .. int(NOW) ..
    ',"hold":' .. S.hold_text .. ',"spread":' .. S.spread_text .. (S.paused and ',"paused":true' or ',"paused":false') .. (change.any and ',"changed":true' or ',"changed":false') ..
    ',"lease":' .. lease_json(',"seller":"' .. S.seller .. '"') .. ',"joined":[' .. listed('joined') .. '],"ended":[' .. listed('ended') ..
    '],"moved":[' .. listed('moved') .. (news.reset and '],"reset":true,"notes":[' or '],"reset":false,"notes":[') .. listed('notes') ..
    (news.missed and '],"missed":[' .. listed('missed') or '') .. ']}'
end

-- write writes the room as it is now; `looked` where that it was looked at is to be noted.
local function write(looked)
  if VANISHES and not held() and not S.paused and waiting() == 0 then return vanishing().vanish() end
  if change.lease and held() then
    redis.call('SET', LOCK, lock_json(S.session, S.seller, S.ticket, S.fence, S.granted, S.expires), 'PXAT', int(S.expires))
  elseif change.lease then
    redis.call('DEL', LOCK)
  end
  write_state(looked)
  if VANISHES then vanishing().pass() end
end

-- commit writes what changed, tells it once, and journals it. Without a change it does nothing.
-- The version grows by one however much happened: a handoff is one change.
local function commit()
  if change.any then S.version = S.version + 1 end
  local looked = S.epoch > 0 and (change.trust or NOW - S.looked >= LOOK_NOTED)
  if change.any or change.codes then
    write(looked)
  else
    if looked then redis.call('HSET', STATE, 'looked', int(math.max(NOW, S.looked)), 'trust', int(S.trust)) end
    if VANISHES and next(made) then vanishing().pass() end
  end
  if news.records then
    redis.call('XADD', JOURNAL, 'MAXLEN', '~', int(JOURNAL_MAX), '*', 'format', int(WRITES), 'epoch', int(S.epoch), 'version', int(S.version),
      'records', '[' .. listed('records') .. ']', unpack(TRACE ~= '' and { 'trace', TRACE } or {}))
  end
  -- Last, since a user without the right to publish is refused here: what is written is written whole.
  if EVENTS ~= '' and (change.any or news.notes) then redis.call('PUBLISH', LOCK:sub(1, -5) .. EVENTS, event_json()) end
  if S.channel and S.channel ~= '' then
    redis.call('PUBLISH', S.channel, string.format('{"room":"%s",%s', ROOM, lease_json(''):sub(2)))
  end
end

-- view is the part of a reply that says how the room is. Average hold, spread and lineage are one field, and so are from when the holder may ask and until
-- when it has to claim: what an older program remembered of a request has less of it.
local function view()
  local lease = '- - - - - - -'
  if held() then
    lease = int(S.ticket) .. ' ' .. int(S.fence) .. ' ' .. int(S.granted) .. ' ' .. int(S.expires) .. ' ' .. int(S.asked) .. ' ' .. int(S.open) .. ' ' .. int(S.ask_after) ..
      (S.claim > 0 and ',' .. int(S.claim) or '')
  end
  return int(S.epoch) .. ' ' .. int(S.version) .. ' ' .. int(NOW) .. ' ' .. int(waiting()) .. ' ' .. S.hold_text .. ',' .. S.spread_text .. ',' .. S.lineage ..
    (S.paused and ' 1 ' or ' 0 ') .. lease
end

-- standing is the part of a reply that says how a session stands:
-- status ticket =seller outcome fence position rank; of a waiter whose turn passed unclaimed that is the outcome until it is back
local function standing(session)
  local p = session ~= '' and place(session)
  if p and session == S.over_session then
    return 'ended ' .. int(p.ticket) .. ' =' .. p.seller .. ' ' .. S.over_outcome .. ' ' .. int(S.fence) .. ' - -'
  end
  if not p then return 'idle - - - - - -' end
  local who = ' ' .. int(p.ticket) .. ' =' .. p.seller .. ' ' -- a seller may be called "-"
  if not p.live then return 'ended' .. who .. p.outcome .. ' ' .. (p.fence ~= '' and p.fence or '-') .. ' - -' end
  if session == S.session then return 'locked' .. who .. '- ' .. int(S.fence) .. ' - -' end
  local at, rank
  if session == S.last then
    at, rank = waiting(), int(p.ticket) -- it has just come
  else
    at, rank = redis.call('ZRANK', QUEUE, session) + 1, redis.call('ZSCORE', QUEUE, session)
  end
  return 'waiting' .. who .. (p.unclaimed and 'unclaimed' or '-') .. ' - ' .. int(at) .. ' ' .. rank
end

local function reply(code, session) return code .. ' ' .. view() .. ' ' .. standing(session) end

-- answer commits and remembers the reply under the request's id; `more` is added to it.
local function answer(code, session, more)
  commit()
  local text = reply(code, session) .. (more or '')
  if REMEMBERED then redis.call('SET', ONCE, text, 'PX', int(ONCE_KEPT)) end
  return text
end

-- refuse commits what time alone changed and says why nothing else did.
local function refuse(code, session, more)
  commit()
  return reply(code, session or '') .. (more or '')
end

-- repeated is the reply to this request where it was answered before. Where that is not kept for long, it is kept again: the reply to the repeat may be lost, too.
local function repeated()
  local told = REMEMBERED and redis.call('GET', ONCE)
  if told and VANISHES then redis.call('PEXPIRE', ONCE, ONCE_KEPT) end
  return told
end

return view, standing, reply, answer, refuse, repeated, commit
