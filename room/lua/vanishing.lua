-- vanishing.lua: a room that is not kept once nobody is in it.

-- vanish forgets a room in which nobody is, but for its highest fence.
local function vanish()
  redis.call('DEL', LOCK, STATE, PLACES, QUEUE, SEEN, AWAY)
  for session in pairs(known) do known[session] = nil end
  redis.call('HSET', STATE, 'format', int(WRITES), 'fence', int(math.max(S.fence, S.above)))
  redis.call('PEXPIRE', STATE, FENCE_KEPT)
end

-- pass gives a room's keys an end, for when all who are in it die without a word. Of keys that have one it is written anew once a minute, or for a lease that
-- goes on for longer than any before: "kept" has when that was, and how long leases could go on (ms).
local function pass()
  local ends = NOW + (held() and math.max(S.expires - NOW, 0) or 0)
  local at, till = (state.kept or ''):match('^(%d+)|(%d+)$')
  at, till = (at or 0) + 0, (till or 0) + 0
  if at <= NOW and NOW < at + RENEWED and ends <= till then
    for key in pairs(made) do redis.call('PEXPIRE', key, int(till - NOW + ABANDONED)) end
    return
  end
  till = ends + RENEWED
  redis.call('HSET', STATE, 'kept', int(NOW) .. '|' .. int(till))
  redis.call('PEXPIRE', STATE, int(till - NOW + FENCE_KEPT))
  for _, key in ipairs(waiting() > 0 and { PLACES, QUEUE, SEEN, AWAY } or { PLACES }) do redis.call('PEXPIRE', key, int(till - NOW + ABANDONED)) end
end

return { vanish = vanish, pass = pass }
