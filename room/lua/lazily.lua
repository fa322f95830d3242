-- lazily.lua: when_used makes a module's functions when one of them is used first.
-- Redis without functions runs the library as a script, which would make all functions again for each call.

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
