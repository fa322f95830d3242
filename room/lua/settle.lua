-- settle.lua: the ledger has judged a match, or what a holder claimed or support assigned since.
-- KEYS  14 once: hash, what the message was told; see inbox.lua
-- AGREED: whom it belongs to is shown it now. Else nobody is, not who has been shown it either (it was judged late), and it answered nothing; whoever asks
-- again is told that it is ambiguous, unless it was claimed or assigned: then the first answer stays. A lease that the message belongs to no more is not concerned: a
-- verdict is told again where whoever told it died.
-- Codes: ok. Repeating it changes nothing.

local judged, owner, given, code, first, answers = unpack(redis.call('HMGET', ONCE, 'judged', 'owner', 'given', 'code', 'fence', 'answers'))
owner = tonumber(owner or 0)

-- on says whether the verdict is on the lease with a fence.
local function on(fence) return FENCE == 0 or FENCE == fence end

-- answers_nothing makes the message the answer to nothing, where its lease is known still.
local function answers_nothing(fence, m)
  local lease = by_fence(fence)
  if lease then take_back(lease, m) end
end

-- asks_again opens the ask that a message answered which is the same as one before, unless another message has answered it since.
local function asks_again(fence, answered)
  local lease, n, digest = by_fence(fence), answered:match('^(%d+) (.+)$')
  for _, a in ipairs(lease and lease.asks or {}) do
    if a.n == tonumber(n) and a.answered == digest then a.answered = '' end
  end
  if lease then write_lease(lease) end
  redis.call('HDEL', ONCE, 'answers') -- the verdict may come again, and another message may have answered by then
end

local m = message(DIGEST)
if m and on(m.fence) and (m.state == 'w' or (m.state == 's' and not AGREED)) then
  local session, entry = m.session, inbox_entry(m)
  if AGREED then
    m.state = 's'
  else
    answers_nothing(m.fence, m)
    m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'ambiguous'
    desk()
  end
  write_message(m, entry)
  verdict(session, true)
  if AGREED and given == 'a' then helped(session, 'assigned') end
elseif not m and given and owner > 0 and on(owner) and not AGREED then -- its text is forgotten
  answers_nothing(owner, { digest = DIGEST, code = code == '1' })
elseif answers and judged == '1' and on(tonumber(first)) and not AGREED then
  asks_again(tonumber(first), answers)
end
if given then
  if owner > 0 and on(owner) and not AGREED then own(ONCE, 0) end
elseif judged == '1' and on(tonumber(first)) then
  redis.call('HSET', ONCE, 'judge', '0')
  if not AGREED then
    redis.call('HSET', ONCE, 'result', 'unmatched', 'reason', 'ambiguous', 'ticket', '-', 'fence', '-', 'granted', '-', 'ended', '-',
      'completes', '0')
  end
end
commit()
return reply('ok', '')
