-- functions.lua: the functions by which Redis calls the library. NAME is the library's.

-- idle returns for how long the library has not been called (ms); 0
-- before the first call since Redis started.
local function idle()
  local last = NOW
  clock.read()
  local now = NOW
  NOW = last
  return last and now - last or 0
end

redis.register_function(NAME, call)
-- NAME_ro also answers while Redis takes no writes.
redis.register_function({ function_name = NAME .. '_ro', callback = call, flags = { 'no-writes' } })
redis.register_function({ function_name = NAME .. '_idle', callback = idle, flags = { 'no-writes' } })
