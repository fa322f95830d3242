-- functions.lua: what Redis calls the library by, where it has functions. NAME is the library's.

-- idle is how long ago the library was called last (ms); 0 where it was not called since the server was started.
local function idle()
  local last = NOW
  clock.read()
  local now = NOW
  NOW = last
  return last and now - last or 0
end

redis.register_function(NAME, call)
redis.register_function({ function_name = NAME .. '_ro', callback = call, flags = { 'no-writes' } }) -- also answers where Redis takes no writes
redis.register_function({ function_name = NAME .. '_idle', callback = idle, flags = { 'no-writes' } })
