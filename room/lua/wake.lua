-- wake.lua: a room that is about to be used, perhaps for the first time. For the verbs that begin one.

-- unlisted is true when the room's index entry may be gone, or due only long from now: the process
-- registered too long ago, or before the room fell asleep; or the store has nothing of the room, so perhaps nothing of the index
-- either, and it has not asked whether anybody knows it since this blank is there. (A client sends a call again by itself, to whatever server
-- is there by then.) Whoever is about to use the room registers again then, which makes it due at once.
local function unlisted(registered, begins)
  if VANISHES then return false end -- it is in no index
  return registered <= S.quiet or NOW - registered > REGISTERED_FOR or (S.epoch == 0 and begins ~= beginning().blank())
end

-- wake makes the room one that is used.
local function wake()
  if S.epoch == 0 then beginning().begin() end
  if S.quiet > 0 then beginning().stay() end
end

return unlisted, wake
