-- seen.lua: presence that has to be told again and again, by a program that has no host number. It vouches for its waiters, and says who has
-- gone just now: it was there until now.
-- ARGV   6 vouched for (ms from now)  7 how many of the following are here; the rest have gone
--        8.. sessions, at most 500
-- Only waiting sessions count: who has no place, or holds the lock, is passed by.
-- Codes: ok

local VOUCH, STAY = int(NOW + tonumber(ARGV[6])), tonumber(ARGV[7])

for i = 8, #ARGV do
  if waits(ARGV[i]) and back(ARGV[i]) then redis.call('ZADD', SEEN, i - 7 <= STAY and VOUCH or int(NOW), ARGV[i]) end
end
advance()
commit()
return reply('ok', '')
