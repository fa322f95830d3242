-- journal.lua: the stream of what happened in the room, which the ledger drains.

-- record adds a record of a kind to this call's entry; `rest` is JSON members without braces, or a format for
-- the values behind it.
function journal.record(kind, rest, ...)
  if settings.journal_max == 0 then return end
  if select('#', ...) > 0 then rest = format(rest, ...) end
  event.add('records', '{"type":"' .. kind .. '","at":' .. int(NOW) .. (rest and ',' .. rest or '') .. '}')
end

-- append writes the records of this call as one entry of the stream.
function journal.append()
  if not news.records then return end
  local records = '[' .. concat(news.records, ',') .. ']'
  if rare.trace ~= '' then
    command('XADD', JOURNAL, 'MAXLEN', '~', int(settings.journal_max), '*', 'format', FORMAT,
      'epoch', int(room.epoch), 'version', int(room.version), 'records', records, 'trace', rare.trace)
  else
    command('XADD', JOURNAL, 'MAXLEN', '~', int(settings.journal_max), '*', 'format', FORMAT,
      'epoch', int(room.epoch), 'version', int(room.version), 'records', records)
  end
end
