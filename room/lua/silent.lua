-- silent.lua: presence that a replica takes back: it asked these sessions, and no socket of theirs has answered.
-- ARGV   6 who was vouched for at any time in the last so many ms has a socket elsewhere  7.. session, for how long it has been
--        silent (ms), session, …; at most 500 sessions
-- Only who was vouched for and is not away is concerned: it was there until it was last heard of, and not until now.
-- Codes: ok

local LATELY = NOW - tonumber(ARGV[6])

for i = 7, #ARGV, 2 do
  local heard = NOW - tonumber(ARGV[i + 1])
  local seen = S.epoch > 0 and redis.call('ZSCORE', SEEN, ARGV[i])
  if seen and tonumber(seen) < LATELY and tonumber(seen) > heard then redis.call('ZADD', SEEN, int(heard), ARGV[i]) end
end
advance()
commit()
return reply('ok', '')
