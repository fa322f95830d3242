-- assign.lua: support gives a message that belongs to nobody to a lease that could have caused it. The ledger has the last word: settle.lua.
-- KEYS  15 the message's answer; see inbox.lua
-- Codes: ok, register, no_message, already_matched (also where the same message under another id, or another part of it, is another's), stale_fence (there is no such lease), not_possible
-- Returns after the standing: result ticket fence epoch granted ended completes, and "1" where its text is forgotten: it is a record only.

local ANSWER = KEYS[15]

local told = repeated()
if told then return told end

local first = {}
first.result, first.owner, first.from, first.to, first.code = unpack(redis.call('HMGET', ANSWER, 'result', 'owner', 'from', 'to', 'code'))
if not first.result and not message(DIGEST) then return refuse('no_message') end
if unlisted(REGISTERED, BEGINS) then return beginning().register() end -- the room may be asleep, and what is journalled has to be drained
wake()
advance()
forget_messages()

-- find is the message as far as it is known, and whether it is somebody's. An older program kept no more of it than its answer.
local function find()
  local m = message(DIGEST)
  if m then return m, m.state == 's' or m.state == 'w' end
  local somebodys = first.result ~= 'unmatched'
  if first.owner then somebodys = first.owner ~= '0' end
  return { digest = DIGEST, from = tonumber(first.from or 0), to = tonumber(first.to or 0), code = first.code == '1', forgotten = true }, somebodys
end

-- give_answer makes it, unless another part of it was that, the answer to the earliest ask that no code came for and that is not too long before; where there is none, to one
-- that was made before it was sent, and nobody knew of. A lease that is not asking has one code more.
local function give_answer(lease, m)
  if not m.code or part_answered(m) then return end
  if not lease.asking then
    lease.codes = lease.codes + 1
    return write_lease(lease)
  end
  local answered
  for _, a in ipairs(lease.asks) do
    if a.answered == '' and m.from - a.at <= OPEN_FOR then
      a.answered, answered = DIGEST, true
      break
    end
  end
  if not answered then add_ask(lease, math.max(math.min(m.from, NOW, lease.ended), lease.granted), DIGEST, '') end
  write_lease(lease)
end

-- bind writes down whose it is now; nobody is shown it before the ledger has agreed.
local function bind(lease, m)
  own(ANSWER, lease.fence, 'a')
  if m.forgotten then return end
  local entry, offered = inbox_entry(m), m.state == 'o' and m.session or ''
  m.session, m.fence, m.ticket, m.state, m.reason = lease.session, lease.fence, lease.ticket, 'w', ''
  m.late, m.result = not lease.current, lease.current and 'matched' or 'late'
  write_message(m, entry)
  first_of(m)
  show(offered) -- it is asked no more whether that is its own
end

local m, somebodys = find()
if somebodys then return refuse('already_matched') end
local lease = by_fence(FENCE)
if not lease then return refuse('stale_fence') end
local other = not m.forgotten and not m.either and kin(m)
local owner = other and by_fence(other.fence)
if owner and owner.party ~= lease.party then return refuse('already_matched') end
if not caused(lease, m.from, m.to) then return refuse('not_possible') end

give_answer(lease, m)
bind(lease, m)
if not m.forgotten then withdraw(m, lease.party, by_fence) end
desk()
local live = lease.current
local ends, result, ended = live and COMPLETES and m.code and S.open == 0, live and 'matched' or 'late', live and NOW or lease.ended
local granted = lease.granted
act(ACTION ~= '' and ACTION .. ',"message_id":' .. ID or '', lease.ticket, lease.fence, lease.seller)
record('assigned', string.format('"message_id":%s,"result":"%s","code":%s,"judge":true,"completes":%s,"ticket":%d,"fence":%d,"seller":"%s",' ..
  '"granted_at":%d,"ended_at":%d,', ID, result, tostring(m.code), tostring(ends or false), lease.ticket, lease.fence, lease.seller,
  granted, ended) .. WHY)
if ends then
  change.any = true
  if not m.forgotten then verdict(S.session) end
  ending().finish('completed', NOW, true)
  advance()
end
return answer('ok', '', string.format(' %s %d %d %d %d %d %s %s', result, lease.ticket, lease.fence, S.epoch, granted, ended,
  ends and '1' or '0', m.forgotten and '1' or '0'))
