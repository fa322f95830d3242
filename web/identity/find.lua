-- Says whom a session stands for and whether a token was used. What the caller remembers of the key and of the session is put back
-- where the store lost it.
-- KEYS: the key that sessions are made with, the session's record, the token's mark
-- ARGV: a key to have where there is none; the session's record as the caller knows it, or ''; until when that counts, in unix ms
-- Returns now in unix ms, the key, the record or '', and 0 where the token was not used, 2 where this session came of it, else 1.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local key = redis.call('GET', KEYS[1])
if not key then
  key = ARGV[1]
  redis.call('SET', KEYS[1], key)
end
local record = redis.call('GET', KEYS[2])
if not record then
  record = ''
  if ARGV[2] ~= '' and tonumber(ARGV[3]) > now then
    record = ARGV[2]
    redis.call('SET', KEYS[2], record, 'PXAT', ARGV[3])
  end
end
local by = redis.call('GET', KEYS[3])
return {now, key, record, by and (by == KEYS[2] and 2 or 1) or 0}
