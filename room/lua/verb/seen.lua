-- seen: a program that is no replica vouches for its waiters' presence, and reports which have just gone.
--
-- args:
--   sessions  those that are connected come first; of a session that does not wait nothing is recorded
--   stay      how many are connected
--   vouch     how long the program vouches for them (ms)
-- Codes: ok
-- Publishes which waiters are back, and what time alone has changed.

prepare.seen = 'itself'
function verb.seen()
  for i, session in ipairs(args.sessions) do
    local present = line.has(session) and presence.mark_present(session)
    if present and present ~= 'away' then
      presence.connected_until(session, i <= args.stay and NOW + args.vouch or NOW)
    end
  end
  advance()
  return 'ok'
end
