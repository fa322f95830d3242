-- tell.lua: writing what changed, once, and saying so: the event, the journal, the reply. For every verb.

local function lease_json(more)
  if not held() then return 'null' end
  return string.format('{"session":"%s","ticket":%d,"fence":%d,"granted_at":%d,"expires_at":%d,"asked":%d,"open":%d,"ask_after":%d%s%s%s}',
    S.session, S.ticket, S.fence, S.granted, S.expires, S.asked, S.open, S.ask_after, S.claim > 0 and ',"claim_by":' .. int(S.claim) or '',
    granted_rank and ',"rank":' .. granted_rank or '', more)
end

local function write_lock()
  if held() then
    redis.call('SET', LOCK, string.format('{"session_id":"%s","seller_id":"%s","ticket":%d,"fence":%d,"locked_at":"%s","expires_at":"%s"}',
      S.session, S.seller, S.ticket, S.fence, iso(S.granted), iso(S.expires)), 'PXAT', int(ends()))
  else
    redis.call('DEL', LOCK)
  end
end

-- write_state writes the fields of the state that this script may have changed.
local function write_state(looked)
  local fields = {}
  local function put(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
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
  if changed then
    put('version', int(S.version)); put('tickets', int(S.tickets)); put('paused', S.paused and '1' or '0')
  end
  if lease_changed then
    put('session', S.session); put('seller', S.seller); put('ticket', int(S.ticket)); put('granted', int(S.granted))
    put('expires', int(S.expires)); put('over', int(S.over)); put('fence', int(S.fence))
  end
  if learned then
    put('hold', S.hold_text); put('spread', S.spread_text); put('holds', int(S.holds))
  end
  if codes_changed then
    put('codes', string.format('%s|%d|%d|%d|%d|%s|%d|%d', S.asking and '1' or '0', S.asked, S.open, S.ask_after,
      S.codes, S.put_off and '1' or '0', S.rejects, S.last_ask))
    put('unanswered', S.open_session .. '|' .. int(S.open_at) .. '|' .. int(S.open_other))
  end
  redis.call('HSET', STATE, unpack(fields))
end

local function event_json()
  return string.format('{"format":%d,"epoch":%d,"version":%d,"lineage":"%s","now":%d,"hold":%s,"spread":%s,"paused":%s,"changed":%s,"lease":%s,' ..
    '"joined":[%s],"ended":[%s],"moved":[%s],"reset":%s,"notes":[%s]%s}', WRITES, S.epoch, S.version, S.lineage, NOW, S.hold_text, S.spread_text, tostring(S.paused),
    tostring(changed), lease_json(',"seller":"' .. S.seller .. '"'), table.concat(joined, ','), table.concat(ended, ','), table.concat(moved, ','),
    tostring(reset), table.concat(noted, ','), missed[1] and ',"missed":[' .. missed[1] .. ']' or '')
end

local FENCE_KEPT = 24 * 60 * 60 * 1000
local ABANDONED = 10 * 60 * 1000 -- after the end of a lease: whoever waits has had it ended long before

-- vanish forgets a room in which nobody is, but for its highest fence.
local function vanish()
  redis.call('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  redis.call('HSET', STATE, 'format', int(WRITES), 'fence', int(S.fence))
  redis.call('PEXPIRE', STATE, FENCE_KEPT)
end

-- pass gives a room's keys an end, for when all who are in it die without a word.
local function pass()
  local left = held() and math.max(S.expires - NOW, 0) or 0
  redis.call('PEXPIRE', STATE, left + FENCE_KEPT)
  for _, key in ipairs(S.waiting > 0 and { PLACES, QUEUE, SEEN, AWAY } or { PLACES }) do
    redis.call('PEXPIRE', key, left + ABANDONED)
  end
end

-- write writes the room as it is now; `looked` where that it was looked at is to be noted.
local function write(looked)
  S.waiting = VANISHES and redis.call('ZCARD', QUEUE)
  if S.waiting == 0 and not held() and not S.paused then return vanish() end
  if lease_changed then write_lock() end
  write_state(looked)
  if S.waiting then pass() end
end

-- commit writes what changed, tells it once, and journals it. Without a change it does nothing.
-- The version grows by one however much happened: a handoff is one change.
local function commit()
  if changed then S.version = S.version + 1 end
  local looked = S.epoch > 0 and (trust_changed or NOW - S.looked >= LOOK_NOTED)
  if changed or codes_changed then
    write(looked)
  else
    if looked then redis.call('HSET', STATE, 'looked', int(math.max(NOW, S.looked)), 'trust', int(S.trust)) end
    if VANISHES and #noted > 0 then -- who is away or back may be the first there, in a key that is new
      S.waiting = redis.call('ZCARD', QUEUE)
      pass()
    end
  end
  if #records > 0 then
    redis.call('XADD', JOURNAL, 'MAXLEN', '~', JOURNAL_MAX, '*', 'format', int(WRITES), 'epoch', int(S.epoch), 'version', int(S.version),
      'records', '[' .. table.concat(records, ',') .. ']')
  end
  -- Last, since a user without the right to publish is refused here: what is written is written whole.
  if TELLS and (changed or #noted > 0) then redis.call('PUBLISH', '{' .. ROOM .. '}:events', event_json()) end
  if S.channel and S.channel ~= '' then
    redis.call('PUBLISH', S.channel, string.format('{"room":"%s",%s', ROOM, lease_json(''):sub(2)))
  end
end

-- view is the part of a reply that says how the room is. Average hold, spread and lineage are one field, and so are from when the holder may ask and until
-- when it has to claim: what an older program remembered of a request has less of it.
local function view()
  local lease = '- - - - - - -'
  if held() then
    lease = string.format('%d %d %d %d %d %d %d%s', S.ticket, S.fence, S.granted, S.expires, S.asked, S.open, S.ask_after, S.claim > 0 and ',' .. int(S.claim) or '')
  end
  return table.concat({ int(S.epoch), int(S.version), int(NOW), S.waiting or redis.call('ZCARD', QUEUE), S.hold_text .. ',' .. S.spread_text .. ',' .. S.lineage,
    S.paused and '1' or '0', lease }, ' ')
end

-- standing is the part of a reply that says how a session stands:
-- status ticket =seller outcome fence position rank; of a waiter whose turn passed unclaimed that is the outcome until it is back
local function standing(session)
  local p = session ~= '' and place(session)
  if p and session == S.over_session then
    return table.concat({ 'ended', int(p.ticket), '=' .. p.seller, S.over_outcome, int(S.fence), '-', '-' }, ' ')
  end
  if not p then return 'idle - - - - - -' end
  local seller = '=' .. p.seller -- a seller may be called "-"
  if not p.live then
    return table.concat({ 'ended', int(p.ticket), seller, p.outcome, p.fence ~= '' and p.fence or '-', '-', '-' }, ' ')
  end
  if session == S.session then
    return table.concat({ 'locked', int(p.ticket), seller, '-', int(S.fence), '-', '-' }, ' ')
  end
  return table.concat({ 'waiting', int(p.ticket), seller, p.unclaimed and 'unclaimed' or '-', '-', redis.call('ZRANK', QUEUE, session) + 1,
    redis.call('ZSCORE', QUEUE, session) }, ' ')
end

local function reply(code, session) return code .. ' ' .. view() .. ' ' .. standing(session) end

-- answer commits and remembers the reply under the request's id; `more` is added to it.
local function answer(code, session, more)
  commit()
  local text = reply(code, session) .. (more or '')
  if REMEMBERED then redis.call('SET', ONCE, text, 'PX', ONCE_KEPT) end
  return text
end

-- refuse commits what time alone changed and says why nothing else did.
local function refuse(code, session, more)
  commit()
  return reply(code, session or '') .. (more or '')
end

-- register asks the caller to put the room into the index and come again; nothing happened.
local function register() return 'register ' .. view() .. ' ' .. standing('') end

-- repeated is the reply to this request where it was answered before. Where that is not kept for long, it is kept again: the reply to the repeat may be lost, too.
local function repeated()
  local told = REMEMBERED and redis.call('GET', ONCE)
  if told and VANISHES then redis.call('PEXPIRE', ONCE, ONCE_KEPT) end
  return told
end

return view, standing, reply, answer, refuse, register, repeated, commit
