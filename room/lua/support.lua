-- support.lua: what the verbs of support have in common.

-- record journals what support did, with the seller concerned; a waiter has no fence. `members` are JSON members of who, what and why; where they
-- are '' nothing is journalled.
function support.record(members, ticket, fence, seller)
  if members == '' then return end
  journal.record('action', members ..
    (ticket and string.format(',"ticket":%d%s,"seller":"%s"', ticket, fence and ',"fence":' .. int(fence) or '', seller) or ''))
end

-- notify has a session's page say what support did for it.
function support.notify(session, what) event.add('notes', string.format('{"session":"%s","support":"%s"}', session, what)) end
