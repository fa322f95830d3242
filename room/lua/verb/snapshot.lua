-- snapshot: the whole line at one version, for a replica's mirror.
--
-- Returns a list: "ok view standing(-)", and the ranks in order, joined by one space.

function verb.snapshot()
  state.observe()
  local waiters, ranks = command('ZRANGE', QUEUE, 0, -1, 'WITHSCORES'), {}
  for i = 2, #waiters, 2 do ranks[#ranks + 1] = waiters[i] end
  return { reply.make('ok', ''), concat(ranks, ' ') }
end
