-- settle: the ledger has judged a match, or a message that a holder has claimed or support has assigned.
--
-- If the ledger agrees, the message is shown to the session that it belongs to. Otherwise it is shown to no
-- session, not even to one that has been shown it, and it answers no ask. Its carrier then gets "ambiguous"
-- for a repeat, unless the message was claimed or assigned: then the first answer stays. A verdict on a lease
-- that the message no longer belongs to changes nothing. Such a verdict comes if a replica died after it had
-- sent the verdict, which another replica then sends again.
--
-- args:
--   digest  of the message
--   agreed  whether the ledger agrees
--   fence   of the lease that the verdict is on, 0 = whichever the message belongs to
-- Codes: ok. A repeat changes nothing.
-- Publishes that the verdict is known, and that the messages of the session and of the desk have changed.

local answer -- the key of the message's answer, a hash; see messages.lua

-- is_on reports whether the verdict is on the lease with a fence.
local function is_on(fence) return args.fence == 0 or args.fence == fence end

-- answers_nothing makes the ask that the message answered open again, if its lease is still known.
local function answers_nothing(fence, m)
  local lease = leases.by_fence(fence)
  if lease then asks.take_back(lease, m) end
end

-- open_again makes the ask that a duplicate answered open again, unless another message has answered it
-- since. After that, the duplicate's answer does not name the ask any more, since the verdict may come again
-- after another message has answered it.
local function open_again(fence, answered)
  local lease, n, digest = leases.by_fence(fence), answered:match('^(%d+) (.+)$')
  for _, a in ipairs(lease and lease.asks or {}) do
    if a.n == tonumber(n) and a.answered == digest then a.answered = '' end
  end
  if lease then leases.write(lease) end
  command('HDEL', answer, 'answers')
end

-- settle_recent applies the verdict to a recent message.
local function settle_recent(m, given)
  local session, entry = m.session, messages.entry(m)
  if args.agreed then
    m.state = 's'
  else
    answers_nothing(m.fence, m)
    m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'ambiguous'
    messages.notify_desk()
  end
  messages.put(m, entry)
  messages.announce_verdict(session, true)
  if args.agreed and given == 'a' then support.notify(session, 'assigned') end
end

-- settle_answer applies the verdict to the message's answer, which a repeat gets.
local function settle_answer(owner, given, is_first)
  if given then
    if owner > 0 and is_on(owner) and not args.agreed then messages.set_owner(answer, 0) end
  elseif is_first then
    command('HSET', answer, 'judge', '0')
    if not args.agreed then
      command('HSET', answer, 'result', 'unmatched', 'reason', 'ambiguous', 'ticket', '0', 'fence', '0',
        'granted', '0', 'ended', '0', 'completes', '0')
    end
  end
end

prepare.settle = 'itself'
function verb.settle()
  answer = messages.key('sms', args.digest)
  local judged, owner, given, code, first, answers =
    unpack(command('HMGET', answer, 'judged', 'owner', 'given', 'code', 'fence', 'answers'))
  owner = tonumber(owner or 0)
  local is_first = judged == '1' and is_on(tonumber(first)) -- the verdict is on the first answer
  local m = messages.get(args.digest)
  if m and is_on(m.fence) and (m.state == 'w' or (m.state == 's' and not args.agreed)) then
    settle_recent(m, given)
  elseif not m and given and owner > 0 and is_on(owner) and not args.agreed then -- its text is forgotten
    answers_nothing(owner, { digest = args.digest, code = code == '1' and '1' or '' })
  elseif answers and is_first and not args.agreed then
    open_again(tonumber(first), answers)
  end
  settle_answer(owner, given, is_first)
  return 'ok'
end
