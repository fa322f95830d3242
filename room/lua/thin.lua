-- thin.lua: a lock of the Go library without waiters.
--
-- Such a lock is thin: its lock key, and the highest fence that it ever had. There is no state and there are
-- no places. The functions here take a free lock and give a thin one back. They return nil, and have written
-- nothing, if the room has to execute the verb. The room reads a thin lock as one whose holder has no waiters
-- (existence.recall). It writes its state with the first change: a waiter joins, or the lease is extended.
--
-- The verbs are lock and unlock, with the ARGV of a room's join and leave; see call.lua. Of these are read:
--   3   of an unlock the name of ONCE
--   7   the latest time at which a lock may run (ms), 0 = any
--   11  the session
--   12  of a lock the length of the lease (ms), of an unlock the lease's fence
-- They reply:
--   taken <fence> <now> <expires>
--   released <now>

thin.room_verb = { lock = 'join', unlock = 'leave' } -- which verb the room executes

thin.fence_kept = 24 * 60 * 60 * 1000 -- how long the highest fence is kept (ms)
local FENCE_KEPT_TEXT = '86400000'    -- the same as text: making it text takes long

local EXACT = 2 ^ 53 -- Lua counts exactly up to here

local REPLY_KEPT = '4000' -- how long a repeated leave gets the same reply (ms)

-- prefix returns the start of the names of a lock's keys.
local function prefix(lock) return lock:sub(1, -5) end

-- fence_key returns the key that has a lock's highest fence while the lock has no state.
function thin.fence_key(lock) return prefix(lock) .. 'fence' end

-- refuse fails the call, since a person or another program has written something else into a lock's key.
local function refuse(key, what)
  error('the key ' .. key .. ' is not ' .. what .. ': DEL it, unless another program needs it', 0)
end

-- highest_fence returns a lock's highest fence, while the lock has no state; nil for none.
function thin.highest_fence(lock)
  local text = redis.pcall('GET', thin.fence_key(lock))
  if not text then return nil end
  local fence = tonumber(text)
  if not fence or fence >= EXACT then refuse(thin.fence_key(lock), 'the highest fence of a lock') end
  return fence
end

-- text returns what a lock key has; nil if it is missing.
function thin.text(lock)
  local text = redis.pcall('GET', lock)
  if type(text) == 'table' then refuse(lock, 'the holder of a lock') end
  return text or nil
end

-- holder returns how the text of a thin lock begins.
local function holder(session, fence)
  return '{"session_id":"' .. session .. '","seller_id":"","ticket":1,"fence":' .. fence .. ','
end

-- time returns Redis's time as text, in seconds and the microseconds of that second with six digits.
local function time()
  local now = command('TIME')
  local us = now[2]
  if #us < 6 then us = ('000000' .. us):sub(-6) end
  return now[1], us
end

-- join grants a free lock, whose keys begin with those of `lock`. It looks for the keys before it reads the
-- time, so a lease that is over by then has no key.
local function join(lock, argv)
  local of = prefix(lock)
  if command('EXISTS', lock, of .. 'state', of .. 'places', of .. 'queue') > 0 then return nil end
  local last = thin.highest_fence(lock)
  local second, us = time()
  local fence, ms = second .. us, us:sub(1, 3)
  if last and fence + 0 <= last then fence = format('%d', last + 1) end -- the clock went back
  local now = second .. ms
  if argv[7] ~= '0' and now + 0 > argv[7] + 0 then return nil end
  local ends = now + argv[12]
  local ends_text = format('%d', ends)
  local text = holder(argv[11], fence) .. '"locked_at":"' .. instant(second + 0, ms) .. '","expires_at":"' ..
    instant(floor(ends / 1000), ends_text:sub(-3)) .. '"}'
  command('SET', lock, text, 'PXAT', ends_text)
  command('SET', thin.fence_key(lock), fence, 'PX', FENCE_KEPT_TEXT)
  return 'taken ' .. fence .. ' ' .. now .. ' ' .. ends_text
end

-- leave gives a thin lock back. A repeat gets the same reply, which is then kept as long again.
local function leave(lock, argv)
  local of = prefix(lock)
  local once, text = of .. argv[3], thin.text(lock)
  local held = text and text:find(holder(argv[11], argv[12]), 1, true) == 1
  if held and command('EXISTS', of .. 'state') == 0 then
    local second, us = time()
    local answer = 'released ' .. second .. us:sub(1, 3)
    command('DEL', lock)
    command('SET', once, answer, 'PX', REPLY_KEPT)
    return answer
  end
  local before = command('GET', once)
  if before then command('PEXPIRE', once, REPLY_KEPT) end
  return before or nil
end

-- answer executes the verb argv[1], if that is lock or unlock; nil if the room has to.
function thin.answer(lock, argv)
  if argv[1] == 'lock' then return join(lock, argv) end
  return argv[1] == 'unlock' and leave(lock, argv) or nil
end

-- decimals returns texts as numbers. The embedded store's Lua reads a number that begins with 0 as octal.
local function decimals(text, ...)
  if text then return tonumber(text, 10), decimals(...) end
end

-- unix returns the unix ms of a time as iso writes it; nil if the text is none.
local function unix(text)
  local year, month, day, hour, minutes_past, second, millis =
    decimals(text:match('^(%d%d%d%d)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)%.(%d%d%d)Z$'))
  if not year then return nil end
  local months = (month + 9) % 12 -- as in date, years begin in March
  local years = year - (months >= 10 and 1 or 0)
  local days = 365 * years + floor(years / 4) - floor(years / 100) + floor(years / 400) +
    floor((153 * months + 2) / 5) + day - 1 - 719468
  return (((days * 24 + hour) * 60 + minutes_past) * 60 + second) * 1000 + millis
end

-- read returns the session, ticket, fence, begin and end (ms) of the lease in a lock key's text; nil if the
-- text is none of ours.
function thin.read(text)
  local session, ticket, fence, granted, expires = text:match('^{"session_id":"([%x-]+)","seller_id":"",' ..
    '"ticket":(%d+),"fence":(%d+),"locked_at":"([^"]+)","expires_at":"([^"]+)"}$')
  local from, till = session and unix(granted), session and unix(expires)
  if from and till then return session, ticket + 0, fence + 0, from, till end
end
