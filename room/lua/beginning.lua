-- beginning.lua: a room that the store knows nothing of, or that fell asleep.

local BLANK = LOCK:sub(1, -5) .. 'blank' -- kept for a minute

-- blank names what the store has in place of a room that it knows nothing of. Once a room was begun there and lost, it has another name, also under another
-- history of the server: then somebody may know the room who was not there to be heard when the caller asked.
local function blank()
  local name = redis.call('GET', BLANK) or int(US)
  redis.call('SET', BLANK, name, 'PX', 60 * 1000)
  return name .. ':' .. history
end

local function fill_blank() redis.call('DEL', BLANK) end

-- begin starts the first epoch of a room that nothing is known of. One that vanishes is written when somebody is in it.
local function begin()
  redis.call('DEL', LOCK, QUEUE, SELLERS, SEEN, AWAY, ENDED, HERE)
  if not VANISHES then
    fill_blank()
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

-- stay takes back the end that an idle room's keys were given.
local function stay()
  if S.quiet == 0 then return end
  for i = 2, 11 do redis.call('PERSIST', KEYS[i]) end
  redis.call('HDEL', STATE, 'quiet')
end

-- register asks the caller to put the room into the index and come again; nothing happened. It names the blank where there is one.
local function register() return 'register ' .. view() .. ' ' .. standing('') .. ' ' .. (S.epoch == 0 and blank() or '-') end

return { blank = blank, register = register, fill_blank = fill_blank, begin = begin, stay = stay }
