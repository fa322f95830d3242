-- inbox.lua: the messages of the last ten minutes. For all verbs that have to do with messages.
--
-- A message of TEXTS: "session|fence|ticket|state|result|reason|late|received|from|to|code|same|sealed|whole|either|rejected"
--   state   w it waits for the ledger's verdict   s it is shown to its session   o it is offered to the session, whose lease with
--           that fence holds the lock   n it is for nobody
--   code    1 = there is one in it
--   same    keyed digest of its sender and text: what comes again as another message
--   whole   of a part of a long message: keyed digest that its other parts have too; "" = it is whole
--   either  1 = the same text belongs to a lease, and this one may be another's as well: support may give it to either
--   rejected fences of leases whose sessions rejected this text, with commas between
-- INBOX has the same digest, session and fence, so that a session's messages are found without reading any text.
--
-- A message's answer, "{room}:sms:DIGEST", is a hash that outlives the text by a day: what match.lua told, which stays, and
--   from to code    as above, of the message itself
--   owner           the fence of the lease that it belongs to since it was claimed, assigned, or rejected ("0" = to none)
--   given           c by a claim, a by support: what the ledger judges now is that, and no more what was told

local SHOWN_FOR = 10 * 60 * 1000

-- split cuts "a|b|c" into its parts; empty parts stay.
local function split(text)
  local parts = {}
  for part in (text .. '|'):gmatch('([^|]*)|') do parts[#parts + 1] = part end
  return parts
end

local function parse_message(digest, text)
  local p = split(text)
  return { digest = digest, session = p[1], fence = tonumber(p[2]), ticket = tonumber(p[3]), state = p[4], result = p[5], reason = p[6],
    late = p[7] == '1', received = p[8], from = tonumber(p[9]), to = tonumber(p[10]), code = p[11] == '1', same = p[12], sealed = p[13],
    whole = p[14] or '', either = p[15] == '1', rejected = p[16] or '' }
end

local function message(digest)
  local text = redis.call('HGET', TEXTS, digest)
  return text and parse_message(digest, text) or nil
end

local function inbox_entry(m) return table.concat({ m.digest, m.session, int(m.fence) }, '|') end

-- write_message writes a message down, or again after a change; entry is what INBOX has of it until now.
local function write_message(m, entry)
  local forget = entry and redis.call('ZSCORE', INBOX, entry) or int(NOW + SHOWN_FOR)
  redis.call('ZADD', INBOX, forget, inbox_entry(m)) -- before the old one goes: a set that is empty for a moment loses its end
  if entry and entry ~= inbox_entry(m) then redis.call('ZREM', INBOX, entry) end
  redis.call('HSET', TEXTS, m.digest, table.concat({ m.session, int(m.fence), int(m.ticket), m.state, m.result, m.reason,
    m.late and '1' or '0', m.received, int(m.from), int(m.to), m.code and '1' or '0', m.same, m.sealed, m.whole, m.either and '1' or '0', m.rejected }, '|'))
  if not entry then
    redis.call('PEXPIRE', INBOX, SHOWN_FOR)
    redis.call('PEXPIRE', TEXTS, SHOWN_FOR)
  end
end

-- first_of notes that a message is the first of its sender and text: what is the same within the next minutes goes where it went. `others` are keys by which it is known too.
local function first_of(m, others)
  redis.call('SET', LOCK:sub(1, -5) .. 'same:' .. m.same, m.digest, 'PX', SHOWN_FOR)
  for _, key in ipairs(others or {}) do redis.call('SET', key, m.digest, 'PX', SHOWN_FOR) end
  if m.whole ~= '' and m.code then -- its other parts answer nothing more; see PARTS in match.lua
    local key = LOCK:sub(1, -5) .. 'parts:' .. m.whole
    local known, left = redis.call('GET', key), redis.call('PTTL', key)
    if known and left > 0 then redis.call('SET', key, (known:gsub('|%d|', '|1|', 1)), 'PX', left) end
  end
end

-- part_answered says whether another part of the same long message has answered an ask already.
local function part_answered(m)
  local known = m.whole and m.whole ~= '' and redis.call('GET', LOCK:sub(1, -5) .. 'parts:' .. m.whole)
  return known and known:match('|(%d)|') == '1'
end

-- forget_messages forgets what was shown for long enough, and says when the next is to be forgotten.
local function forget_messages()
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', INBOX, '-inf', int(NOW))) do
    redis.call('HDEL', TEXTS, entry:match('^[^|]*'))
    redis.call('ZREM', INBOX, entry)
  end
  return tonumber(redis.call('ZRANGE', INBOX, 0, 0, 'WITHSCORES')[2])
end

-- recent lists the messages that are not forgotten, the earliest first, as an iterator; it reads a part of them at a time.
local function recent()
  local entries, i, part, texts = redis.call('ZRANGEBYSCORE', INBOX, '(' .. int(NOW), '+inf'), 0, 100, nil
  local digests = {}
  for n, entry in ipairs(entries) do digests[n] = entry:match('^[^|]*') end
  return function()
    while i < #digests do
      if i % part == 0 then texts = redis.call('HMGET', TEXTS, unpack(digests, i + 1, math.min(i + part, #digests))) end
      i = i + 1
      local text = texts[(i - 1) % part + 1]
      if text then return parse_message(digests[i], text) end
    end
  end
end

-- kin is one of the last messages that is the same as m by rule 5 and belongs to a lease: the same text came again, or they are parts of one; nil for none.
local function akin(m, o) return m.digest ~= o.digest and (m.same == o.same or (m.whole ~= '' and m.whole == o.whole)) end
local function kin(m)
  for o in recent() do
    if (o.state == 's' or o.state == 'w') and akin(m, o) then return o end
  end
end

-- show tells the replicas to look up what a session is shown.
local function show(session)
  if session ~= '' then tell('notes', '{"message":"' .. session .. '"}') end
end

-- withdraw takes messages that are the same as m, which belongs to a party's lease now, back from the leases of others that they are offered to.
local function withdraw(m, party, by_fence)
  for o in recent() do
    local l = o.state == 'o' and akin(m, o) and by_fence(o.fence)
    if l and l.party ~= party then
      local entry, session = inbox_entry(o), o.session
      o.session, o.fence, o.state = '', 0, 'n'
      write_message(o, entry)
      show(session)
    end
  end
end

-- verdict publishes that the ledger is asked about a message which ends this session's turn, or, where `known`, that it has answered:
-- a replica sends the session its message first and the end of its turn after it.
local function verdict(session, known)
  tell('notes', known and '{"message":"' .. session .. '","judged":true}' or '{"judging":"' .. session .. '"}')
end

-- desk tells who watches the room that the messages or incidents to look at are others now.
local desk_told = false
local function desk()
  if not desk_told then tell('notes', '{"desk":true}') end
  desk_told = true
end

-- own notes in a message's answer whose it is from now on; what its carrier is told again stays.
local function own(answer, fence, given)
  if redis.call('HEXISTS', answer, 'result') == 0 then return end -- it is forgotten
  redis.call('HSET', answer, 'owner', int(fence))
  if given then redis.call('HSET', answer, 'given', given) end
end

return message, inbox_entry, write_message, first_of, part_answered, forget_messages, recent, kin, withdraw, show, desk, own, verdict
