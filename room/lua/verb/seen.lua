-- seen: presence from a program that has no replica number. It vouches for its waiters, and says which have
-- gone just now. Sessions that do not wait are passed by.
-- Codes: ok

function verb.seen()
  for i, session in ipairs(args.sessions) do
    local there = line.has(session) and presence.mark_present(session)
    if there and there ~= 'away' then presence.connected_until(session, i <= args.stay and NOW + args.vouch or NOW) end
  end
  advance()
  state.commit()
  return reply.make('ok', '')
end
