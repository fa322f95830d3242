-- index/erase_reply.lua: renames a seller in the remembered reply to a request.
-- KEYS   1 the reply
-- ARGV   1 seller  2 its pseudonym
-- Returns 1 if the reply named the seller, otherwise 0.

local text = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if not text or left <= 0 then return 0 end
local words, found = {}, 0
for word in text:gmatch('%S+') do
  if word == '=' .. ARGV[1] then word, found = '=' .. ARGV[2], 1 end
  words[#words + 1] = word
end
if found == 1 then redis.call('SET', KEYS[1], table.concat(words, ' '), 'PX', left) end
return found
