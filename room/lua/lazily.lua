-- lazily.lua: in a script, which makes the library anew for each call, a module's functions are made when one of them is used first.

local makers = {}
local unmade = { __index = function(module, name)
  setmetatable(module, nil)
  makers[module]()
  return module[name]
end }

local function when_used(module, make)
  makers[module] = make
  setmetatable(module, unmade)
end
