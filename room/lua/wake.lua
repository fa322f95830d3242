-- wake.lua: a room that is about to be used, perhaps for the first time. For the verbs that begin one.

-- begin starts the first epoch of a room that nothing is known of. One that vanishes is written when somebody is in it.
local function begin()
  redis.call('DEL', LOCK, QUEUE, SELLERS, SEEN, AWAY, ENDED, HERE)
  if not VANISHES then
    for _, kept in ipairs({ LEASES, JOURNAL }) do redis.call('PERSIST', kept) end
  end
  S.epoch, S.version = math.max(US, S.epoch + 1), 0
  set_average(LEASE, 0)
  S.holds, change.average = 0, true
  S.lineage = history ~= '' and history .. ':1' or ''
  if VANISHES then
    S.begun = true
  else
    redis.call('HSET', STATE, 'epoch', int(S.epoch), 'lineage', S.lineage)
  end
  record('epoch')
end

-- unlisted is true when the room's index entry may be gone, or due only long from now: the process
-- registered too long ago, or before the room fell asleep; or it did not do so for this very call, and the
-- store has nothing of the room, so perhaps nothing of the index either. Whoever is about to use the room
-- registers again then, which makes it due at once.
local function unlisted(registered, fresh)
  if VANISHES then return false end -- it is in no index
  return registered <= S.quiet or NOW - registered > REGISTERED_FOR or (S.epoch == 0 and not fresh)
end

-- stay takes back the end that an idle room's keys were given.
local function stay()
  if S.quiet == 0 then return end
  for i = 2, 11 do redis.call('PERSIST', KEYS[i]) end
  redis.call('HDEL', STATE, 'quiet')
end

-- wake makes the room one that is used.
local function wake()
  if S.epoch == 0 then begin() end
  stay()
end

-- register asks the caller to put the room into the index and come again; nothing happened.
local function register() return 'register ' .. view() .. ' ' .. standing('') end

return unlisted, register, stay, wake
