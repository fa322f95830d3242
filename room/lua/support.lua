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

-- set changes a part of what support has set for the whole room; see wire.BySupport.
function support.set(part)
  local all = room.support or {}
  for name, value in pairs(part) do all[name] = value end
  all.ends = max(all.notice_until or 0, all.open_until or 0, all.closed_until or 0)
  room.support, change.any = all.ends > NOW and all or nil, true
end

-- forget drops what support has set for the whole room once all of it has ended. Replicas see the end by
-- their clocks.
function support.forget()
  if room.support and room.support.ends <= NOW then room.support, change.room = nil, true end
end

-- closed reports whether the room takes no new places; `outside` is whether it is outside its hours.
function support.closed(outside)
  local all = room.support
  if not all then return outside end
  return (all.closed_until or 0) > NOW or outside and (all.open_until or 0) <= NOW
end
