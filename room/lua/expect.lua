-- expect.lua: the holder says that it now asks for a code; or, with a message, that it had asked and this is the answer.
-- KEYS  15 the message's answer, where there is a message; see inbox.lua
-- Codes: ok, no_place, stale_fence, too_many_asks, no_message,
--   number_busy: another party's lease asked and its code may still come; until when is added to the reply. The first such
--   answer puts the lease's end off by what it has to wait.
-- Returns after the standing: asked open expires ticket fence, then of a message that was claimed: epoch granted ended, then what was asked where the answer is remembered.

ONCE_KEPT = LONGEST -- as long as a lease: a repeat is the same ask

local told = repeated()
if told then return told end
advance()

local mine = place(SESSION)
if not (mine and mine.live) then return refuse('no_place', SESSION) end
if S.session ~= SESSION or S.fence ~= FENCE then return refuse('stale_fence', SESSION) end
claims().claim_lease()

local lease = current()
if DIGEST == '' and not lease.asking then S.asking, lease.asking, change.codes = true, true, true end

-- claim binds the message to the lease, as if it had asked before the message was sent: the earliest later ask counts as that.
local function claim()
  local m = message(DIGEST)
  if not (m and m.state == 'o' and m.session == SESSION and m.fence == S.fence) then return nil, 'no_message' end
  local same = kin(m)
  local owner = same and by_fence(same.fence)
  if owner and owner.party ~= lease.party then return nil, 'no_message' end
  local theirs = m.reason ~= 'ambiguous' and asked_by_others(lease.party, OPEN_FOR) -- ambiguous and offered: for the carrier's clock, see behind in match_whose.lua
  if theirs then return nil, 'number_busy', ' ' .. int(theirs + OPEN_FOR) end
  local answered = part_answered(m)
  for _, a in ipairs(lease.asks) do
    if not answered and a.answered == '' and a.at >= m.from then
      a.answered, answered = DIGEST, true
      break
    end
  end
  if not answered then add_ask(lease, math.max(math.min(m.from, NOW), S.granted), DIGEST, FILTER) end
  local entry = inbox_entry(m)
  m.state, m.result, m.reason, m.ticket = 'w', 'matched', '', S.ticket
  write_message(m, entry)
  first_of(m)
  own(KEYS[15], m.fence, 'c')
  desk()
  return m
end

local function reply_of(lease, expires, m)
  local open = 0
  for _, a in ipairs(lease.asks) do if a.answered == '' then open = open + 1 end end
  return string.format(' %d %d %d %d %d', #lease.asks, open, expires, lease.ticket, lease.fence) ..
    (m and string.format(' %d %d %d', S.epoch, lease.granted, NOW) or '') .. (BODY ~= '' and ' ' .. BODY or '')
end

if DIGEST ~= '' then
  local m, refused, more = claim()
  if not m then return refuse(refused, SESSION, more) end
  write_lease(lease)
  local ends, expires = COMPLETES and S.open == 0, S.expires
  record('claimed', '"message_id":%s,"result":"matched","code":true,"judge":true,"completes":%s,"ticket":%d,"fence":%d,"seller":"%s",' ..
    '"granted_at":%d,"ended_at":%d', ID, tostring(ends), S.ticket, S.fence, S.seller, S.granted, NOW)
  change.any = true
  if ends then
    verdict(SESSION)
    ending().finish('completed', NOW, true)
    advance()
  end
  return answer('ok', SESSION, reply_of(lease, expires, m))
end

if #lease.asks >= MOST then return refuse('too_many_asks', SESSION) end
local free = busy_until(lease.party)
if free > 0 then
  if S.ask_after ~= free then S.ask_after, change.any, change.codes = free, true, true end
  local expires = math.min(S.expires + math.min(free - NOW, QUARANTINE), S.granted + LONGEST)
  if not S.put_off then
    S.put_off, change.codes = true, true
    if expires > S.expires then
      S.expires, change.any, change.lease = expires, true, true
      record('extended', '"ticket":%d,"seller":"%s","fence":%d,"expires_at":%d', S.ticket, S.seller, S.fence, expires)
    end
  end
  return refuse('number_busy', SESSION, ' ' .. int(free))
end

add_ask(lease, room_clock(), '', FILTER)
write_lease(lease)
record('asked', '"ticket":%d,"seller":"%s","fence":%d,"asks":%d', S.ticket, S.seller, S.fence, S.asked)
return answer('ok', SESSION, reply_of(lease, S.expires))
