-- advance.lua: bringing the room to the time of the call.

-- advance ends what is over, marks who is away, drops who is gone, and hands the free lock to the first in line. Every verb that writes calls it
-- first, so that the room's state is a function of what was asked and of Redis's clock, whoever calls.
function advance()
  if room.epoch == 0 or room.just_begun then return end
  if NOW < room.advanced_at then clock.turn_back() end
  clock.after_outage()
  if leases.held() then
    if room.claim_by > 0 and NOW >= room.claim_by and room.claim_by <= room.expires then
      leases.miss()
    elseif NOW >= room.expires then
      leases.finish('expired', room.expires)
    elseif not room.lock_exists and not change.lease then
      leases.finish('forced', NOW)
    end
  end
  if line.length() > 0 then presence.check() end
  if not leases.held() and not room.paused and line.length() > 0 then line.hand_on() end
end

-- advance_read_only is advance where Redis takes no writes: a lease that is over counts as ended, and the lock is handed on when that can be
-- written. A lease need not be claimed meanwhile, and none ends for that.
function state.advance_read_only()
  if leases.held() and (NOW >= room.expires or not room.lock_exists and NOW < leases.deadline()) then
    room.ended_session, room.ended_outcome, room.session = room.session, NOW >= room.expires and 'expired' or 'forced', ''
  end
end

-- observe is what a verb that only asks begins with.
function state.observe()
  if caller.read_only then return state.advance_read_only() end
  advance()
  state.commit()
end
