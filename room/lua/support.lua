-- support.lua: what the verbs of support share. For assign, extend, move, pause, release, remove and settle.

-- act journals what support did (JSON members of who, what and why; "" = nobody is named, nothing is journalled), and the one
-- concerned: a waiter has no fence.
local function act(members, ticket, fence, seller)
  if members == '' then return end
  record('action', members .. (ticket and string.format(',"ticket":%d%s,"seller":"%s"', ticket, fence and ',"fence":' .. int(fence) or '', seller) or ''))
end

-- helped notes what support did for a session, so that its page can say so.
local function helped(session, what) tell('notes', string.format('{"session":"%s","support":"%s"}', session, what)) end

-- waiter finds who waits with a ticket: its rank is the ticket, unless it was moved.
local function waiter(ticket)
  local mark = 'live|' .. int(ticket) .. '|'
  local line = redis.call('ZRANGEBYSCORE', QUEUE, int(ticket), int(ticket))
  local from, step = 0, 500
  repeat
    local texts = #line > 0 and redis.call('HMGET', PLACES, unpack(line)) or {}
    for i, text in ipairs(texts) do
      if text and text:sub(1, #mark) == mark then return line[i] end
    end
    line, from = redis.call('ZRANGE', QUEUE, from, from + step - 1), from + step
  until #line == 0
end

return act, helped, waiter
