-- seen.lua: presence that has to be told again and again, by a program that has no host number. It vouches for its waiters, and says who has
-- gone just now: it was there until now.
-- Only waiting sessions count: who has no place, or holds the lock, is passed by.
-- Codes: ok

for i, session in ipairs(SESSIONS) do
  local there = waits(session) and back(session)
  if there and there ~= 'away' then waiters().there_until(session, i <= STAY and NOW + VOUCH or NOW) end
end
advance()
commit()
return reply('ok', '')
