-- expire: brings the room up to date. Any process may call it at any time.
--
-- args:
--   rest       the room is looked at again after so long at the latest (ms)
--   take_in    the same while the journal is not drained (ms)
--   retention  how long an idle room's keys are kept (ms)
--   replicas   see replicas in index/claim.lua; '' = not known
-- Codes: active (a session holds or waits), idle, asleep (idle, and its keys expire)
-- The reply has `next_at`, when to look at the room again, and `journal`, the journal's length.
-- Publishes what time alone has changed.

-- next_look returns when something is due next: a lease, a waiter's presence, a message.
-- `pending` is the journal's length, `forget` when the next message is recent no more. The next look is never
-- more than a lease length away, so that the end of a lease granted meanwhile is found soon.
local function next_look(pending, forget)
  local look = NOW + min(pending > 0 and args.take_in or args.rest, settings.lease)
  if leases.held() then look = min(look, leases.deadline()) end
  if forget then look = min(look, forget) end
  if line.length() > 0 then
    local gone = command('ZRANGE', SEEN, '0', '0', 'WITHSCORES')[2]
    if gone then
      look = min(look, max(tonumber(gone) + settings.away_after + 1, room.presence_trusted_from))
    end
    local away = command('ZRANGE', AWAY, '0', '0', 'WITHSCORES')[2]
    if away then
      local dropped = tonumber(away) + settings.away_after + settings.drop_after + 1
      look = min(look, max(dropped, room.presence_trusted_from))
    end
  end
  return max(look, NOW)
end

prepare.expire = 'itself'
function verb.expire()
  if room.epoch > 0 then clock.follow_jump_back() end
  if room.epoch > 0 then line.remake() end
  local more = presence.expire_replicas(args.replicas)
  advance()
  local forget = messages.expire()
  local code, pending = 'active', journal.length()
  if line.length() == 0 and not leases.held() then
    local kept = room.paused or room.support or forget
    code = pending == 0 and not kept and 'asleep' or 'idle'
    if code == 'asleep' and room.epoch > 0 and room.idle_since == 0 and not settings.ephemeral then
      existence.sleep(args.retention)
    end
  end
  return code, nil, '"next_at":' .. int(more and NOW or next_look(pending, forget)) ..
    ',"journal":' .. int(pending)
end
