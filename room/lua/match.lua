-- match.lua: an SMS arrives. It belongs to the one lease its time lies in, or to none: never a guess.
-- KEYS  12 once: what this message was told the first time
-- ARGV   6 from  7 to: the half-open time it was sent in (ms); both 0 = now  8 guard (ms): widens it on both sides
--        9 "1" = a match ends the lease as completed  10 digest of the message id
--       11 JSON shown to the holder (secret)  12 JSON members for the journal (no secret)
--       13 registered (ms)  14 "1" = for this very call
-- Returns "register", see join.lua, or
--   "ok" result reason ticket fence epoch granted ended received(ms)
--   result  matched | late | unmatched;  reason  no_lease | ambiguous for unmatched
-- The holder is not shown the message yet: settle.lua does that when the ledger has agreed.

local FROM, TO, GUARD = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local COMPLETES, DIGEST, SHOWN, MEMBERS = ARGV[9] == '1', ARGV[10], ARGV[11], ARGV[12]
local ONCE_A_DAY = 25 * 60 * 60 * 1000  -- then the ledger knows the message
local LATE_AFTER = 24 * 60 * 60 * 1000
local SHOWN_FOR = 10 * 60 * 1000

local told = repeated()
if told then return told end
if unlisted(tonumber(ARGV[13]), ARGV[14]) then return register() end
wake()
advance()

-- Ahead of Redis's clock counts as now.
if (FROM == 0 and TO == 0) or FROM > NOW then FROM, TO = NOW, NOW + 1 end
local TOO_OLD = FROM < NOW - LATE_AFTER
FROM, TO = FROM - GUARD, TO + GUARD

-- touching lists the leases the time touches, the latest first; two are enough to know that it is
-- ambiguous. Leases do not overlap, so the first that ended before it ends the search.
local function touching()
  local found = {}
  if TOO_OLD then return found end
  if held() and S.granted < TO then
    found[1] = { fence = S.fence, ticket = S.ticket, granted = S.granted, ended = S.expires, session = S.session, seller = S.seller, current = true }
  end
  local past = redis.call('ZREVRANGEBYSCORE', LEASES, '(' .. int(TO), '-inf', 'WITHSCORES', 'LIMIT', 0, 8)
  for i = 1, #past, 2 do
    local p, granted = split(past[i]), tonumber(past[i + 1])
    local over = tonumber(p[3])
    if over <= FROM and not (over == granted and granted >= FROM) then break end
    found[#found + 1] = { fence = tonumber(p[1]), ticket = tonumber(p[2]), granted = granted, ended = over, session = p[4], seller = p[5] }
    if #found > 1 then break end
  end
  return found
end

local found = touching()
local lease = #found == 1 and found[1] or nil
local result = not lease and 'unmatched' or lease.current and 'matched' or 'late'
local reason = #found == 0 and 'no_lease' or #found > 1 and 'ambiguous' or '-'

local ends = result == 'matched' and COMPLETES
if ends then lease.ended = NOW end
record('message', string.format('"result":"%s"%s%s,"completes":%s,%s', result,
  reason ~= '-' and ',"reason":"' .. reason .. '"' or '',
  lease and string.format(',"ticket":%d,"fence":%d,"seller":"%s","granted_at":%d,"ended_at":%d', lease.ticket,
    lease.fence, lease.seller, lease.granted, lease.ended) or '', tostring(COMPLETES), MEMBERS))

if result == 'matched' then
  redis.call('ZADD', INBOX, int(NOW + SHOWN_FOR), table.concat({ lease.session .. '/' .. int(lease.fence), DIGEST, '0', SHOWN }, '|'))
  redis.call('ZREMRANGEBYSCORE', INBOX, '-inf', int(NOW))
  redis.call('PEXPIRE', INBOX, SHOWN_FOR)
end
if ends then
  finish('completed', NOW)
  advance()
end

local text = table.concat({ 'ok', result, reason, lease and int(lease.ticket) or '-', lease and int(lease.fence) or '-',
  int(S.epoch), lease and int(lease.granted) or '-', lease and int(lease.ended) or '-', int(NOW) }, ' ')
commit()
redis.call('SET', ONCE, text, 'PX', ONCE_A_DAY)
return text
