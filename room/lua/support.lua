-- support.lua: what the verbs of support share.

-- record journals an action of support, with the ticket, fence and seller in `v` that it concerns.
-- `members` are JSON members that name the agent, the action and the reason; '' journals nothing.
function support.record(members, v)
  if members ~= '' then journal.record('action', v, members) end
end

-- may_undo makes the verb restore begin a session's place again, which this call of support ends.
function support.may_undo(session)
  local p = places.get(session)
  if p then p.undoable, p.browser = true, presence.has_browser(session) end
end

-- notify makes a session's page show what support did for it.
function support.notify(session, what)
  event.note({ session = session, support = what })
end
