-- undo.lua: uncounts places whose joins were refused, unless another request has asked for them meanwhile.
-- KEYS   1 places  2 day, see admit.lua; 2 only where a price is given back
-- ARGV   1 price of a new place that is given back (µs; 0 = none)
--        2 place  3 its mark  4 place …
-- Returns how many were forgotten.

local forgotten = 0
if tonumber(ARGV[1]) > 0 then
  local paid = redis.call('GET', KEYS[2])
  if paid then redis.call('SET', KEYS[2], string.format('%.0f', paid - ARGV[1]), 'KEEPTTL') end
end
for i = 2, #ARGV, 2 do
  local asked = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if asked and tonumber(asked) == tonumber(ARGV[i + 1]) then forgotten = forgotten + redis.call('ZREM', KEYS[1], ARGV[i]) end
end
return forgotten
