-- look.lua: how the room is and how some sessions stand.
-- ARGV   6.. sessions, at most 500
-- Returns a list: "ok view", then for each session its standing and, where it was shown a message
-- in the last minutes, a second element with those messages as a JSON array ("" = none).

advance()
commit()

local messages = {}
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', INBOX, int(NOW), '+inf')) do
  local session, _, shown, json = entry:match('^([^|]*)|([^|]*)|([^|]*)|(.*)$')
  if shown == '1' then messages[session] = (messages[session] and messages[session] .. ',' or '') .. json end
end

local out = { 'ok ' .. view() }
for i = 6, #ARGV do
  out[#out + 1] = standing(ARGV[i])
  out[#out + 1] = messages[ARGV[i]] and '[' .. messages[ARGV[i]] .. ']' or ''
end
return out
