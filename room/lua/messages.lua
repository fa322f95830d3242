-- messages.lua: the recent messages: those of the last ten minutes, with their sealed texts.
--
-- TEXTS has messages as wire.stored_message, under their digests.
-- INBOX has its digest, session and fence: so a session's messages are found without reading any text.
--
-- A message's answer, "{room}:sms:DIGEST", is a hash that is kept for a day: what
-- verb/match.lua answered, which stays, and
--   from, to, code   when it was sent, within [from, to), and whether it has a code
--   owner            once it was claimed, assigned or rejected: fence of its lease since then, "0" = none
--   given            c by a claim, a by support: from then on the ledger judges that, not the first answer

local SHOWN_FOR = 10 * 60 * 1000 -- how long a message is recent (ms)
local PART = 100                 -- so many texts are read at a time

local function parse(digest, text)
  local m = wire.read_stored_message(text)
  m.digest = digest
  return m
end

-- get returns a recent message, nil for none.
function messages.get(digest)
  local text = command('HGET', TEXTS, digest)
  return text and parse(digest, text) or nil
end

-- entry returns the message's member of INBOX.
function messages.entry(m) return concat({ m.digest, m.session, int(m.fence) }, '|') end

-- put writes a message. If the message is not new, `entry` is the member that INBOX has of it until now.
-- The new member is added before the old one is removed: a set that is empty for a moment loses its expiry.
function messages.put(m, entry)
  local forget = entry and command('ZSCORE', INBOX, entry) or int(NOW + SHOWN_FOR)
  command('ZADD', INBOX, forget, messages.entry(m))
  if entry and entry ~= messages.entry(m) then command('ZREM', INBOX, entry) end
  command('HSET', TEXTS, m.digest, wire.stored_message(m))
  if not entry then
    command('PEXPIRE', INBOX, SHOWN_FOR)
    command('PEXPIRE', TEXTS, SHOWN_FOR)
  end
end

-- key returns a key of the room, by its kind and a digest.
function messages.key(kind, digest) return LOCK:sub(1, -5) .. kind .. ':' .. digest end

-- point makes the keys of a kind, one for each name that a message has under a secret, lead to a message.
function messages.point(kind, names, digest, ms)
  for _, name in ipairs(names) do command('SET', messages.key(kind, name), digest, 'PX', ms) end
end
-- pointed returns the digest of the message to which a key of a kind leads, by any of the names.
-- It returns nil if there is none.
function messages.pointed(kind, names)
  for _, name in ipairs(names) do
    local digest = command('GET', messages.key(kind, name))
    if digest then return digest end
  end
end

-- parts returns what is known of the parts of a long message, nil for nothing; see wire.Parts.
function messages.parts(whole)
  local text = command('GET', messages.key('parts', whole))
  return text and wire.read_parts(text) or nil
end

-- keep_parts keeps it for `ms`.
function messages.keep_parts(whole, parts, ms)
  command('SET', messages.key('parts', whole), wire.parts(parts), 'PX', int(ms))
end

-- code_of returns how the last message that belonged to a lease and has this code concerns a party (rule 5 of
-- docs/matching.md): 'anothers' = it belongs to another party, or that one has rejected it; 'known' = it
-- belongs to this party; nil = not at all. `names` are those of the code under each secret. `same` is the
-- digest of the sender and text that are judged: of the very same text, matching.duplicate and
-- matching.could_be decide.
function messages.code_of(names, party, same)
  local digest = messages.pointed('code', names)
  local m = digest and messages.get(digest)
  if not m then return nil end
  local belongs, again = m.state == 's' or m.state == 'w', m.same == same
  local fence = belongs and m.fence or not again and tonumber(m.rejected:match('%d+$') or '')
  local owner = fence and leases.by_fence(fence)
  if owner and owner.party ~= party then return 'anothers' end
  return owner and belongs and not again and 'known' or nil
end

-- remember_text records that a message is the first of its sender and text; later duplicates go where it
-- went. `names` are those of the same text under each secret; without them it has one.
function messages.remember_text(m, names)
  messages.point('same', names or { m.same }, m.digest, SHOWN_FOR)
  if m.whole ~= '' and m.code ~= '' then -- no other part of it answers an ask; see `whole` in verb/match.lua
    local parts, left = messages.parts(m.whole), command('PTTL', messages.key('parts', m.whole))
    if parts and left > 0 then
      parts.answered = true
      messages.keep_parts(m.whole, parts, left)
    end
  end
end

-- remember_code records that a message with a code belongs to a lease, so that the same code in another
-- message reaches no other party. `names` are those of the code under each secret; without them it has one.
function messages.remember_code(m, names)
  if not names then names = m.code ~= '' and m.code ~= '1' and { m.code } or {} end
  messages.point('code', names, m.digest, SHOWN_FOR)
end

-- part_answered reports whether another part of the same long message has answered an ask.
function messages.part_answered(m)
  local parts = m.whole and m.whole ~= '' and messages.parts(m.whole)
  return parts and parts.answered
end

-- expire deletes the messages that are not recent any more, and returns when the next one will not be.
function messages.expire()
  for _, entry in ipairs(command('ZRANGEBYSCORE', INBOX, '-inf', int(NOW))) do
    command('HDEL', TEXTS, entry:match('^[^|]*'))
    command('ZREM', INBOX, entry)
  end
  return tonumber(command('ZRANGE', INBOX, '0', '0', 'WITHSCORES')[2])
end

-- next_recent is the iterator of recent: it returns the next message, nil after the last.
local function next_recent(reader)
  while reader.i < #reader.digests do
    if reader.i % PART == 0 then
      local last = min(reader.i + PART, #reader.digests)
      reader.texts = command('HMGET', TEXTS, unpack(reader.digests, reader.i + 1, last))
    end
    reader.i = reader.i + 1
    local text = reader.texts[(reader.i - 1) % PART + 1]
    if text then return parse(reader.digests[reader.i], text) end
  end
end

-- recent iterates over the recent messages, the earliest first.
function messages.recent()
  local digests = command('ZRANGEBYSCORE', INBOX, '(' .. int(NOW), '+inf')
  for n, entry in ipairs(digests) do digests[n] = entry:match('^[^|]*') end
  return next_recent, { digests = digests, i = 0, texts = nil }
end

-- are_duplicates reports whether two messages have the same text, or are parts of one (rule 5 of
-- docs/matching.md).
local function are_duplicates(m, o)
  return m.digest ~= o.digest and (m.same == o.same or (m.whole ~= '' and m.whole == o.whole))
end

-- duplicate_of returns a recent message that is the same as m and belongs to a lease, nil for none.
function messages.duplicate_of(m)
  for o in messages.recent() do
    if (o.state == 's' or o.state == 'w') and are_duplicates(m, o) then return o end
  end
end

-- notify makes the replicas look up a session's messages.
function messages.notify(session)
  if session ~= '' then event.note({ message = session }) end
end

-- withdraw ends the offers of m's duplicates to other parties, since m belongs to a lease of this party.
function messages.withdraw(m, party)
  for o in messages.recent() do
    local l = o.state == 'o' and are_duplicates(m, o) and leases.by_fence(o.fence)
    if l and l.party ~= party then
      local entry, session = messages.entry(o), o.session
      o.session, o.fence, o.state = '', 0, 'n'
      messages.put(o, entry)
      messages.notify(session)
    end
  end
end

-- announce_verdict publishes that the ledger judges a message which ends this session's turn.
-- If `known` is true, it publishes that the ledger has judged the message. A replica sends the session its
-- message first, and the end of its turn after that.
function messages.announce_verdict(session, known)
  event.note(known and { message = session, judged = true } or { judging = session })
end

-- complete_lease ends the lease that a message has completed, and grants the lock to the next waiter. If
-- `shown` is true, the holder's page shows the end only after the message, which the ledger has to judge.
function messages.complete_lease(shown)
  change.any = true
  if shown then messages.announce_verdict(room.session) end
  leases.finish('completed', NOW, true)
  advance()
end

-- notify_desk makes the desks that watch the room look up its messages and incidents.
function messages.notify_desk()
  if not memo.desk_notified then event.note({ desk = true }) end
  memo.desk_notified = true
end

-- set_owner records in a message's answer the lease that it belongs to from now on; the answer itself stays.
function messages.set_owner(answer, fence, given)
  if command('HEXISTS', answer, 'result') == 0 then return end -- the answer is not kept any more
  command('HSET', answer, 'owner', int(fence))
  if given then command('HSET', answer, 'given', given) end
end
