-- functions.lua: the functions by which Redis calls the library. NAME is the library's.

-- idle returns for how long the library has not been called (ms); 0
-- before the first call since Redis started.
local function idle()
  if not command then take_globals() end
  local last = NOW
  clock.read()
  local now = NOW
  NOW = last
  return last and now - last or 0
end

-- answer executes a verb on a thin lock, or else on the room.
local function answer(keys, argv)
  if not command then take_globals() end
  return thin.answer(keys[1], argv) or call(keys, argv)
end

-- read_only executes a verb on the room, which writes nothing.
local function read_only(keys, argv)
  if not command then take_globals() end
  return call(keys, argv)
end

redis.register_function(NAME, answer)
-- NAME_ro also answers while Redis takes no writes.
redis.register_function({ function_name = NAME .. '_ro', callback = read_only, flags = { 'no-writes' } })
redis.register_function({ function_name = NAME .. '_idle', callback = idle, flags = { 'no-writes' } })
