-- support.lua: what the verbs of support share. For assign, extend, move, pause, release, remove and settle.

-- act journals what support did (JSON members of who, what and why; "" = nobody is named, nothing is journalled), and the one
-- concerned: a waiter has no fence.
local function act(members, ticket, fence, seller)
  if members == '' then return end
  record('action', members .. (ticket and string.format(',"ticket":%d%s,"seller":"%s"', ticket, fence and ',"fence":' .. int(fence) or '', seller) or ''))
end

-- helped notes what support did for a session, so that its page can say so.
local function helped(session, what) noted[#noted + 1] = string.format('{"session":"%s","support":"%s"}', session, what) end

return act, helped
