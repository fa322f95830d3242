-- now.lua: what a verb that asks only begins with: the room is brought to now.

advance()
commit()
