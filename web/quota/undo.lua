-- undo.lua: uncounts places whose joins were refused, unless another request has asked for them meanwhile.
-- KEYS   1 places, see admit.lua
-- ARGV   1 place  2 its mark  3 place …
-- Returns how many were forgotten.

local forgotten = 0
for i = 1, #ARGV, 2 do
  local asked = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if asked and tonumber(asked) == tonumber(ARGV[i + 1]) then forgotten = forgotten + redis.call('ZREM', KEYS[1], ARGV[i]) end
end
return forgotten
