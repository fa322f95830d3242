-- look.lua: how the room is and how some sessions stand.
-- ARGV   6.. sessions, at most 500
-- Returns a list: "ok view", then for each session its standing and, where it was shown a message
-- of its last lease in the last minutes, a second element with those messages as a JSON array ("" = none).

advance()
commit()

local messages = {}
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', INBOX, int(NOW), '+inf')) do
  local owner, _, shown, json = entry:match('^([^|]*)|([^|]*)|([^|]*)|(.*)$')
  if shown == '1' then messages[owner] = (messages[owner] and messages[owner] .. ',' or '') .. json end
end

-- shown_to are the messages of the session's own last lease: a code of the turn before is not for this one.
local function shown_to(session)
  local p = session ~= '' and place(session)
  local fence = p and (session == S.session and int(S.fence) or p.fence)
  local list = fence and messages[session .. '/' .. fence]
  return list and '[' .. list .. ']' or ''
end

local out = { 'ok ' .. view() }
for i = 6, #ARGV do
  out[#out + 1] = standing(ARGV[i])
  out[#out + 1] = shown_to(ARGV[i])
end
return out
