-- index/erase_reply.lua: renames a seller in the remembered reply to a request.
-- KEYS   1 the reply
-- ARGV   1 seller  2 its pseudonym
-- Returns 1 if the reply named the seller, otherwise 0.

local text = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if not text or left <= 0 then return 0 end
local named, found = '"seller":"' .. ARGV[1] .. '"', 0
local begin, last = text:find(named, 1, true)
while begin do
  local renamed = text:sub(1, begin - 1) .. '"seller":"' .. ARGV[2] .. '"'
  text, found = renamed .. text:sub(last + 1), 1
  begin, last = text:find(named, #renamed + 1, true)
end
if found == 1 then redis.call('SET', KEYS[1], text, 'PX', left) end
return found
