-- inbox.lua: the messages of the last ten minutes. For expire, expect, look, match, reject and settle.
--
-- A message of TEXTS: "session|fence|ticket|state|result|reason|late|received|from|to|code|same|sealed"
--   state   w it waits for the ledger's verdict   s it is shown to its session   o it is offered to the session, whose lease with
--           that fence holds the lock   n it is for nobody
--   code    1 = there is one in it
--   same    keyed digest of its sender and text: what comes again as another message
-- INBOX has the same digest, session and fence, so that a session's messages are found without reading any text.

local SHOWN_FOR = 10 * 60 * 1000

local function message(digest)
  local text = redis.call('HGET', TEXTS, digest)
  if not text then return nil end
  local p = split(text)
  return { digest = digest, session = p[1], fence = tonumber(p[2]), ticket = tonumber(p[3]), state = p[4], result = p[5], reason = p[6],
    late = p[7] == '1', received = p[8], from = tonumber(p[9]), to = tonumber(p[10]), code = p[11] == '1', same = p[12], sealed = p[13] }
end

local function inbox_entry(m) return table.concat({ m.digest, m.session, int(m.fence) }, '|') end

-- write_message writes a message down, or again after a change; entry is what INBOX has of it until now.
local function write_message(m, entry)
  local forget = entry and redis.call('ZSCORE', INBOX, entry) or int(NOW + SHOWN_FOR)
  redis.call('ZADD', INBOX, forget, inbox_entry(m)) -- before the old one goes: a set that is empty for a moment loses its end
  if entry and entry ~= inbox_entry(m) then redis.call('ZREM', INBOX, entry) end
  redis.call('HSET', TEXTS, m.digest, table.concat({ m.session, int(m.fence), int(m.ticket), m.state, m.result, m.reason,
    m.late and '1' or '0', m.received, int(m.from), int(m.to), m.code and '1' or '0', m.same, m.sealed }, '|'))
  if not entry then
    redis.call('PEXPIRE', INBOX, SHOWN_FOR)
    redis.call('PEXPIRE', TEXTS, SHOWN_FOR)
  end
end

-- first_of notes that a message is the first of its sender and text: what is the same within the next minutes goes where it went.
local function first_of(m)
  redis.call('SET', '{' .. ROOM .. '}:same:' .. m.same, m.digest, 'PX', SHOWN_FOR)
end

-- forget_messages forgets what was shown for long enough, and says when the next is to be forgotten.
local function forget_messages()
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', INBOX, '-inf', int(NOW))) do
    redis.call('HDEL', TEXTS, entry:match('^[^|]*'))
    redis.call('ZREM', INBOX, entry)
  end
  return tonumber(redis.call('ZRANGE', INBOX, 0, 0, 'WITHSCORES')[2])
end

-- show tells the replicas to look up what a session is shown.
local function show(session)
  if session ~= '' then noted[#noted + 1] = '{"message":"' .. session .. '"}' end
end
