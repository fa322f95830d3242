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

-- keep_text keeps the sealed text for whom it is for, and for support. What is known by its text alone says nothing of other parts.
local function keep_text(l, state, by_text)
  local m = { digest = DIGEST, session = l and l.session or '', fence = l and l.fence or 0, ticket = l and l.ticket or 0, state = state,
    result = told.result, reason = told.reason, late = told.result == 'late', received = told.at, from = FROM, to = TO,
    code = A.code, same = A.same, sealed = A.sealed, whole = A.part > 0 and not by_text and PARTS:match('}:parts:(.*)$') or '' }
  write_message(m)
  if l and state ~= 'o' then first_of(m, SAME_ELSEWHERE) end
  if state ~= 'w' then show(m.session) end
  desk() -- also a match: what is the same message and was nobody's can be no one else's now
end

-- offered is the live lease where it may say that this code is its own: it is asking, but had not asked when it was sent. Where asks may be lost, it may be another's.
local function offered()
  if asks_lost() then return nil end
  local l = leases[1]
  if not (told.reason == 'not_expected' and A.code and not A.foreign and l and l.current and l.asking and touched() == 1) then return nil end
  for _, a in ipairs(l.asks) do
    if a.answered == '' and a.at < TO then return nil end
  end
  return not asked_by_others(l.session, OPEN_FOR) and l or nil
end

local l, ask, ends
local bound = true
local whole = long()
local again, again_ask, anew, m = same()
if again then
  l, ask, bound, told.duplicate = again, again_ask, anew, '1'
else
  if whole and not whole.again then l, ask = part(whole) else l, ask = judge() end
  if not l then told.reason = ask end
end
local to_come = A.code and l and ask and awaited(l, ask)
if unknown then -- nothing was done but what time alone did
  if not to_come then awaited(unknown_of) end -- what that will want to know, in the same question
  commit()
  return 'asks ' .. table.concat(unknown, ' ')
end

local answers
if l then
  local had = l.codes
  if to_come then await(l.session, to_come) end -- first: from when a holder may ask is reckoned with it
  ends = attribute(l, ask, bound, bound and DIGEST or m.digest)
  if again and not anew then -- it was told before: with the first one's result
    told.result = m.result
  end
  answers = A.code and (ask ~= nil or l.codes ~= had)
end
if A.from > CLOCK + AHEAD then
  incident('carrier_clock', 'the carrier says that it took a message over a minute from now; its clock is not believed')
end
journal(l)
if bound then
  local to = l or offered()
  keep_text(to, l and (told.judge == '1' and 'w' or 's') or to and 'o' or 'n', again)
end
if A.part > 0 and again and not whole then -- long messages may begin alike
  redis.call('DEL', PARTS)
elseif A.part > 0 then
  local answered = answers or (whole and whole.answered)
  redis.call('SET', PARTS, (whole and whole.first.digest or DIGEST) .. '|' .. (answered and '1' or '0') .. '|' .. (whole and whole.numbers or ',') ..
    (whole and whole.again and '*' or int(A.part)) .. ',', 'PX', PARTS_FOR)
end
if ends then
  change.any = true
  if bound then verdict(S.session) end
  ending().finish('completed', NOW, true)
  advance()
end
commit()
told.judged = told.judge -- it may be refused, now or after it was shown
local fields = {}
for name, value in pairs(told) do
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
redis.call('HSET', ONCE, unpack(fields))
redis.call('PEXPIRE', ONCE, REMEMBERED_FOR)
return answer_text(told)
