-- snapshot: the whole line at one version, for a replica's mirror.
--
-- Returns a reply with the `ranks` in order.

function verb.snapshot()
  local waiters, ranks = command('ZRANGE', QUEUE, 0, -1, 'WITHSCORES'), {}
  for i = 2, #waiters, 2 do ranks[#ranks + 1] = waiters[i] end
  return 'ok', nil, '"ranks":[' .. concat(ranks, ',') .. ']'
end
