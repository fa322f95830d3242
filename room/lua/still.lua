-- still.lua: what a verb that asks only begins with where the store takes no writes (see reading in script.go): nothing is written, and
-- what time alone ended is told as ended. The next in line has the lock when that can be written. Nobody can claim a lease meanwhile, and none ends for it.

if held() and (NOW >= S.expires or not LOCK_THERE and NOW < ends()) then
  S.over_session, S.over_outcome, S.session = S.session, NOW >= S.expires and 'expired' or 'forced', ''
end
