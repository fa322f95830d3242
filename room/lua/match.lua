-- match.lua: an SMS arrives. It belongs to the one lease that could have caused it, or to none: never a guess.
-- KEYS  14 once: hash, what this message was told the first time
--       15 same: the first message of this sender and text in the last ten minutes, as its digest
--       16 parts: the first part of the same long message in the last minute, as "digest|1 = a part answered an ask|,part,part,"; with "*," behind it
--          a part came twice before all had come: another message may have the same ref
--       and from there on what 15 is called under other secrets, while one is replaced: a replica may have another one first
-- MESSAGE is JSON: digest, id (as JSON), from, to (when the carrier took it, ms; both 0 = it did not say), age (ms since it was read, with a fraction),
--          read (when it was first read, ms of Redis's clock; 0 = not known), first (the same, where it came before this; 0 = it did not), guard (ms), completes (a code ends the lease),
--          code (there is one), foreign (the room takes nothing from this sender), fingerprint, fits (by the name of an ask's filter: yes, no, or sealed where that is not to be known),
--          part (0 = it is whole), parts (of how many), same (what its sender and text are known by), sealed, members (JSON members for the journal; no secret)
-- Returns "register", see join.lua, or "asks filter …" where Go has to say first which of them it fits, or
--   "ok" result reason ticket fence epoch granted ended received(ms) duplicate judge completes, and the room's epoch version lineage
--   result  matched | late | unmatched;  reason  no_lease | ambiguous | not_expected | rejected for unmatched
-- The holder is not shown a match yet: settle.lua does that when the ledger has agreed. What is late is shown at once.
--
-- It goes on in match_whose.lua, which says whose the message is, and in match_bind.lua, which does what comes of that: one text, in three files.

local A = cjson.decode(MESSAGE)
local DIGEST, SAME, PARTS, SAME_ELSEWHERE = A.digest, KEYS[15], KEYS[16], { unpack(KEYS, 17) }
local REMEMBERED_FOR = 25 * 60 * 60 * 1000  -- then the ledger knows the message
local LATE_AFTER = 24 * 60 * 60 * 1000
local PARTS_FOR = 60 * 1000
local ON_ITS_WAY = 3                        -- what is between a replica and us, and what it knows of our time, is no better than this (ms)
local AHEAD = 60 * 1000                     -- how far ahead of us a carrier's clock may be

local function answer_text(h)
  return table.concat({ 'ok', h.result, h.reason, h.ticket, h.fence, h.epoch, h.granted, h.ended, h.at, h.duplicate, h.judge, h.completes,
    int(S.epoch), int(S.version), S.lineage ~= '' and S.lineage or '-' }, ' ')
end

local function incident(kind, detail)
  record('incident', '"action":"%s","reason":"%s","message_id":%s', kind, detail, A.id)
  desk()
end

do
  local list, told = redis.call('HGETALL', ONCE), {}
  for i = 1, #list, 2 do told[list[i]] = list[i + 1] end
  if told.result then
    local key = A.fingerprint:match('^[^:]*')
    local another = told.fingerprint:match('^[^:]*') == key and told.fingerprint ~= A.fingerprint
    if not another or NOW - told.at <= LATE_AFTER then
      if another then incident('message_id_reused', 'a message came with the id of another; the first answer stays') end
      commit()
      return answer_text(told)
    end
    redis.call('DEL', ONCE) -- some phones count their messages from 1 again
  end
end
if unlisted(REGISTERED, BEGINS) then return beginning().register() end
wake()
advance()
forget_messages()

local CLOCK = room_clock()

-- window is when it was sent, by the room's clock; and whether that is too long ago.
local function window()
  local from, to = A.from, A.to
  local unsaid = from == 0 and to == 0
  if unsaid or from > CLOCK + AHEAD then
    local age = A.age
    if A.read > 0 and NOW - age - A.read > ON_ITS_WAY then age = NOW - A.read end -- Redis let it wait
    from, to = CLOCK - math.ceil(age - (CLOCK == NOW and US / 1000 - NOW or 0)), CLOCK + 1
  else
    local read = CLOCK
    if A.first > 0 and CLOCK == NOW then read = math.min(CLOCK, A.first + ON_ITS_WAY) end -- what comes again was not sent after it was first read
    if from > read then -- it counts as then, and the carrier's clock is ahead by as much at the least; as far as it can be later, it may be
      from, to = read - (from - read), math.min(to, CLOCK + 1)
    end
  end
  return from - A.guard, to + A.guard, from < NOW - LATE_AFTER
end

local FROM, TO, TOO_OLD = window()
