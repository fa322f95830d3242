-- settle: the ledger has judged a match, or what a holder claimed or support assigned since.
-- KEYS  ONCE  hash: what was answered when the message came; see messages.lua
-- Agreed: the message is shown to the session that it belongs to. Else it is shown to none, also not to one
-- that has been shown it (it was judged late), and it answered nothing; its carrier gets "ambiguous" from
-- then on, unless it was claimed or assigned: then the first answer stays. A verdict on a lease that the
-- message belongs to no more changes nothing: a verdict is sent again where the replica that sent it died.
-- Codes: ok. Repeating it changes nothing.

-- on reports whether the verdict is on the lease with a fence.
local function on(fence) return args.fence == 0 or args.fence == fence end

-- answers_nothing makes the message the answer to nothing, where its lease is still known.
local function answers_nothing(fence, m)
  local lease = leases.by_fence(fence)
  if lease then asks.take_back(lease, m) end
end

-- asks_again opens the ask that a duplicate answered, unless another message has answered it since.
local function asks_again(fence, answered)
  local lease, n, digest = leases.by_fence(fence), answered:match('^(%d+) (.+)$')
  for _, a in ipairs(lease and lease.asks or {}) do
    if a.n == tonumber(n) and a.answered == digest then a.answered = '' end
  end
  if lease then leases.write(lease) end
  redis.call('HDEL', ONCE, 'answers') -- the verdict may come again, and another message may have answered by then
end

function verb.settle()
  local judged, owner, given, code, first, answers = unpack(redis.call('HMGET', ONCE, 'judged', 'owner', 'given', 'code', 'fence', 'answers'))
  owner = tonumber(owner or 0)
  local m = messages.get(args.digest)
  if m and on(m.fence) and (m.state == 'w' or (m.state == 's' and not args.agreed)) then
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
  elseif not m and given and owner > 0 and on(owner) and not args.agreed then -- its text is forgotten
    answers_nothing(owner, { digest = args.digest, code = code == '1' })
  elseif answers and judged == '1' and on(tonumber(first)) and not args.agreed then
    asks_again(tonumber(first), answers)
  end
  if given then
    if owner > 0 and on(owner) and not args.agreed then messages.set_owner(ONCE, 0) end
  elseif judged == '1' and on(tonumber(first)) then
    redis.call('HSET', ONCE, 'judge', '0')
    if not args.agreed then
      redis.call('HSET', ONCE, 'result', 'unmatched', 'reason', 'ambiguous', 'ticket', '-', 'fence', '-', 'granted', '-', 'ended', '-',
        'completes', '0')
    end
  end
  state.commit()
  return reply.make('ok', '')
end
