-- settle.lua: the ledger has judged a match.
-- KEYS  13 once: hash, what the message was told
-- ARGV   6 digest of the message id  7 "1" = agreed: its holder is shown it now; "0" = refused: nobody is, not who has been shown
--        it either (it was judged late), whoever asks again is told that it is ambiguous, and it answered nothing
-- Codes: ok. Repeating it changes nothing.

local DIGEST, AGREED = ARGV[6], ARGV[7] == '1'

local m = message(DIGEST)
if m and (m.state == 'w' or (m.state == 's' and not AGREED)) then
  local session, shown, entry = m.session, m.state == 's', inbox_entry(m)
  if AGREED then
    m.state = 's'
  else
    local lease = by_fence(m.fence)
    if lease then take_back(lease, m) end
    m.session, m.fence, m.ticket, m.state, m.result, m.reason = '', 0, 0, 'n', 'unmatched', 'ambiguous'
  end
  write_message(m, entry)
  if AGREED or shown then show(session) end
end
if redis.call('HGET', ONCE, 'judged') == '1' then
  redis.call('HSET', ONCE, 'judge', '0')
  if not AGREED then
    redis.call('HSET', ONCE, 'result', 'unmatched', 'reason', 'ambiguous', 'ticket', '-', 'fence', '-', 'granted', '-', 'ended', '-',
      'completes', '0')
  end
end
commit()
return reply('ok', '')
