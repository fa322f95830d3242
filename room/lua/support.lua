-- support.lua: what the verbs of support share.

-- record journals an action of support, with the seller concerned; a waiter has no fence.
-- `members` are JSON members that name the agent, the action and the reason; '' journals nothing.
function support.record(members, ticket, fence, seller)
  if members == '' then return end
  local concerned = ticket and format(',"ticket":%d%s,"seller":"%s"', ticket,
    fence and ',"fence":' .. int(fence) or '', seller)
  journal.record('action', members .. (concerned or ''))
end

-- notify makes a session's page show what support did for it.
function support.notify(session, what)
  event.add('notes', format('{"session":"%s","support":"%s"}', session, what))
end
