-- advance.lua: bringing the room to the time of the call.

-- advance_read_only is advance while Redis takes no writes: a lease that is over counts as ended. The next
-- waiter is granted the lock once Redis takes writes again. Meanwhile no lease has to be claimed, and none
-- ends as unclaimed.
local function advance_read_only()
  if leases.held() and (NOW >= room.expires or not memo.lock_exists and NOW < leases.deadline()) then
    memo.ended_outcome = NOW >= room.expires and 'expired' or lineage.outcome_without_lock()
    memo.ended_session, room.session = room.session, ''
  end
end

-- advance ends what is over, marks waiters away, drops those gone too long, and grants a free lock.
-- Every verb that writes calls it first. So the room's state depends only on the calls and on Redis's
-- clock, whichever process calls. A lease without its lock key ends too, as lost or forced, unless this call
-- has changed the lease (change.lease): its lock key is then written when the call ends.
function advance()
  if rare.read_only then return advance_read_only() end
  if room.epoch == 0 or memo.just_begun then return end
  if NOW < room.advanced_at then clock.follow_jump_back() end
  clock.after_outage()
  support.forget()
  if leases.held() then
    if room.claim_by > 0 and NOW >= room.claim_by and room.claim_by <= room.expires then
      leases.finish_unclaimed()
    elseif NOW >= room.expires then
      leases.finish('expired', room.expires)
    elseif not memo.lock_exists and not change.lease then
      if lineage.outcome_without_lock() == 'lost' then leases.lose() else leases.finish('forced', NOW) end
    end
  end
  if line.length() > 0 then presence.mark_gone() end
  if not leases.held() and not room.paused and line.length() > 0 then line.grant_first() end
end
