-- match_bind.lua: what comes of a message: the lease that it is bound to, its text and its answer are kept. The last part of match.lua.

local told = { result = 'unmatched', reason = '-', ticket = '-', fence = '-', epoch = int(S.epoch), granted = '-', ended = '-',
  at = int(NOW), duplicate = '0', judge = '0', completes = '0', fingerprint = A.fingerprint,
  from = int(FROM), to = int(TO), code = A.code and '1' or '0' } -- when it was sent, should support assign it; see inbox.lua

-- answer_ask has a code answer an ask, under the digest of the first message of its text; a lease that does not ask has its code then.
local function answer_ask(l, ask, bound, digest)
  if not A.code then return end
  if ask then
    ask.answered = digest
  elseif not l.asking and bound then
    l.codes = l.codes + 1
  else
    return
  end
  if l.current or l.text then write_lease(l) end
end

-- attribute binds it to a lease; bound says that it is shown to the lease's session, and so has to be agreed to.
local function attribute(l, ask, bound, digest)
  answer_ask(l, ask, bound, digest)
  local ends = l.current and A.completes and A.code and S.open == 0
  told.result = l.current and 'matched' or 'late'
  told.ticket, told.fence, told.granted, told.ended = int(l.ticket), int(l.fence), int(l.granted), int(l.current and NOW or l.ended)
  told.completes, told.judge = ends and '1' or '0', (l.current and (bound or ends)) and '1' or '0'
  return ends
end

local function journal(l)
  record('message', string.format('"result":"%s"%s,"code":%s,"duplicate":%s,"judge":%s,"completes":%s%s,%s', told.result,
    told.reason ~= '-' and ',"reason":"' .. told.reason .. '"' or '', tostring(A.code), tostring(told.duplicate == '1'),
    tostring(told.judge == '1'), tostring(told.completes == '1'),
    l and string.format(',"ticket":%d,"fence":%d,"seller":"%s","granted_at":%d,"ended_at":%s', l.ticket, l.fence, l.seller, l.granted,
      told.ended) or '', A.members))
end

local whole = long()
local first, l, ask, anew = same()
local repeats, either, other = l ~= nil, ask == 'ambiguous', nil
if repeats then
  told.duplicate = '1'
elseif not either then
  if whole and not whole.again then l, ask, other = part(whole) else l, ask, other = judge() end
  if l and first and not could_be(l.party, first) then l, ask = nil, 'ambiguous' end
end
local bound = anew ~= false -- else the first message of this text stays the one that is shown
if not l then told.reason = ask end

-- offered is the live lease where it may say that this code is its own: it is asking, but had not asked when the message says that it was sent. Where asks
-- may be lost, or the same text may be another's, it is offered to none.
local function offered()
  local to = other or leases[1]
  if asks_lost() or not (A.code and to and to.current and to.asking) or A.foreign then return nil end
  if first and not could_be(to.party, first) then return nil end
  if other then return to end
  if told.reason ~= 'not_expected' or touched() ~= 1 then return nil end
  for _, a in ipairs(to.asks) do
    if a.answered == '' and a.at < TO then return nil end
  end
  return not asked_by_others(to.party, OPEN_FOR) and to or nil
end

-- keep_text keeps the sealed text for whom it is for, and for support. What is known by its text alone says nothing of other parts.
local function keep_text(l, state, by_text)
  local m = { digest = DIGEST, session = l and l.session or '', fence = l and l.fence or 0, ticket = l and l.ticket or 0, state = state,
    result = told.result, reason = told.reason, late = told.result == 'late', received = told.at, from = FROM, to = TO,
    code = A.code, same = A.same, sealed = A.sealed, whole = A.part > 0 and not by_text and PARTS:match('}:parts:(.*)$') or '',
    either = either, rejected = first and first.rejected or '' }
  write_message(m)
  local mine = l and state ~= 'o'
  if mine or not (first or A.foreign) then first_of(m, SAME_ELSEWHERE) end
  if mine and first then withdraw(m, l.party, by_fence) end
  if state ~= 'w' then show(m.session) end
  desk() -- also a match: what is the same message and was nobody's can be no one else's now
end

local to_come = A.code and l and ask and awaited(l, ask)
do
  local asks, of = unknown()
  if asks then -- nothing was done but what time alone did
    if not to_come then awaited(of) end -- what that will want to know, in the same question
    commit()
    return 'asks ' .. table.concat(asks, ' ')
  end
end

local answers, ends
if l then
  local had = l.codes
  if to_come then await(l.party, to_come) end -- first: from when a holder may ask is reckoned with it
  ends = attribute(l, ask, bound, bound and DIGEST or first.digest)
  if not bound then told.result = first.result end -- it was told before: with the first one's result
  answers = A.code and (ask ~= nil or l.codes ~= had)
end
if A.from > CLOCK + AHEAD then
  incident('carrier_clock', 'the carrier says that it took a message over a minute from now; its clock is not believed')
elseif other then
  incident('carrier_clock', 'a message seems to be older than the ask that caused it; the clock of its carrier may be behind')
  TO = TO + BEHIND -- it may have been sent until then: support gives it to a lease that could have caused it by that
  told.to = int(TO)
end
journal(l)
if bound then
  local to = l or offered()
  keep_text(to, l and (told.judge == '1' and 'w' or 's') or to and 'o' or 'n', repeats or either)
end
if A.part > 0 and (repeats or either) and not whole then -- long messages may begin alike
  redis.call('DEL', PARTS)
elseif A.part > 0 then
  local answered, code_at = answers or (whole and whole.answered), whole and whole.code_at or A.code and FROM or nil
  redis.call('SET', PARTS, (whole and whole.first.digest or DIGEST) .. '|' .. (answered and '1' or '0') .. '|' .. (whole and whole.numbers or ',') ..
    (whole and whole.again and '*' or int(A.part)) .. ',|' .. (code_at and int(code_at) or ''), 'PX', PARTS_FOR)
end
if ends then
  change.any = true
  if bound then verdict(S.session) end
  ending().finish('completed', NOW, true)
  advance()
end
commit()
told.judged = told.judge -- it may be refused, now or after it was shown
if ask and not bound and A.code then told.answers = int(ask.n) .. ' ' .. first.digest end -- its own; settle.lua opens it again
local fields = {}
for name, value in pairs(told) do
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
redis.call('HSET', ONCE, unpack(fields))
redis.call('PEXPIRE', ONCE, REMEMBERED_FOR)
return answer_text(told)
