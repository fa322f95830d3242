-- settle.lua: the ledger has judged a matched message.
-- KEYS  12 once: what the message was told
-- ARGV   6 digest of the message id  7 "1" = agreed: its holder is shown it now; "0" = refused: nobody is,
--        not who has been shown it either (it was judged late), and whoever asks again is told that it is ambiguous
-- Codes: ok. Repeating it changes nothing.

local DIGEST, AGREED = ARGV[6], ARGV[7] == '1'

for _, entry in ipairs(redis.call('ZRANGEBYSCORE', INBOX, int(NOW), '+inf')) do
  local owner, digest, shown, json = entry:match('^([^|]*)|([^|]*)|([^|]*)|(.*)$')
  if digest == DIGEST and not (AGREED and shown == '1') then
    if AGREED then -- before the old entry goes: a set that is empty for a moment loses its end
      redis.call('ZADD', INBOX, redis.call('ZSCORE', INBOX, entry), table.concat({ owner, digest, '1', json }, '|'))
    end
    redis.call('ZREM', INBOX, entry)
    if AGREED or shown == '1' then noted[#noted + 1] = string.format('{"message":"%s"}', owner:match('^[^/]*')) end
  end
end
if not AGREED then
  local told = repeated()
  if told then
    local f = {}
    for field in told:gmatch('%S+') do f[#f + 1] = field end
    redis.call('SET', ONCE, table.concat({ 'ok unmatched ambiguous - -', f[6], '- -', f[9] }, ' '), 'KEEPTTL')
  end
end
commit()
return reply('ok', '')
