-- still.lua: what a verb that asks only begins with where the store takes no writes (see reading in script.go): nothing is written, and
-- what time alone ended is told as ended. The next in line has the lock when that can be written. Nobody can claim a lease meanwhile, and none ends for it.

if held() and (NOW >= S.expires or not LOCK_THERE and NOW < ends()) then
  local over, outcome, stored = S.session, NOW >= S.expires and 'expired' or 'forced', standing
  S.session = ''
  standing = function(session)
    local p = session == over and place(session)
    if not p then return stored(session) end
    return table.concat({ 'ended', int(p.ticket), '=' .. p.seller, outcome, int(S.fence), '-', '-' }, ' ')
  end
end
