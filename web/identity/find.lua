-- Reads the seller of a session, and whether a token was used. If Redis lost the key or the session's record,
-- the script writes the caller's copy first.
-- KEYS: the key that sessions are derived from; the session's record; the mark of a used token
-- ARGV: a key to store if there is none; the caller's copy of the record, or ''; when that copy expires (unix ms)
-- Returns the time (unix ms), the key, the record or '', and the token's use: 0 = not used, 2 = used by this
-- session, 1 = used by another.
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
