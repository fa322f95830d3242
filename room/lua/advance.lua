-- advance.lua: bringing the room to now. For every verb.

-- advance brings the room to NOW: it ends what is over, marks who is away, drops who is gone,
-- and hands the free lock to the first in line. Every verb calls it first, so that the room's
-- state is a function of what was asked and of Redis's clock, whoever looks.
local function advance()
  if S.epoch == 0 or S.begun then return end
  if NOW < S.looked then times().turn_clock() end
  local trusted = math.max(OUTAGE, STEPPED) + TRUSTED - NOW -- a step is no time that anybody was gone for
  if trusted > 0 then times().trust(trusted) end
  if held() then
    if S.claim > 0 and NOW >= S.claim and S.claim <= S.expires then
      waiters().miss()
    elseif NOW >= S.expires then
      ending().finish('expired', S.expires)
    elseif not LOCK_THERE and not change.lease then
      ending().finish('forced', NOW)
    end
  end
  if waiting() > 0 then waiters().presence() end
  if not held() and not S.paused and waiting() > 0 then waiters().hand_on() end
end

return advance
