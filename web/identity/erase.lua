-- Empties a session's record if it names this seller. The empty record stays until it expires, so that no
-- replica writes back the record that it remembers.
-- KEYS: the session's record
-- ARGV: the seller
-- Returns 1 if the record named the seller, else 0.
local text = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if not text or left <= 0 then
  return 0
end
local ok, record = pcall(cjson.decode, text)
if not ok or type(record) ~= 'table' or record.seller ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], '{"seller":"","until":0}', 'PX', left)
return 1
