-- snapshot.lua: the whole line at one version, for a replica's mirror.
-- Returns "ok view standing(-)", and the ranks in order joined by one space.

local line = redis.call('ZRANGE', QUEUE, 0, -1, 'WITHSCORES')
local ranks = {}
for i = 2, #line, 2 do ranks[#ranks + 1] = line[i] end
return { reply('ok', ''), table.concat(ranks, ' ') }
