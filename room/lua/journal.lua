-- journal.lua: the stream of what happened in the room, which the ledger drains.

-- record adds a record of a kind to this call's entry: the members of `v` that wire.Kinds names, and `more`,
-- which is JSON members that Go has made.
function journal.record(kind, v, more)
  if settings.journal_max == 0 then return end
  local records = news.records or {}
  records[#records + 1], news.records = wire.record(kind, v, more), records
end

-- length returns how many entries the stream has, with this call's.
function journal.length() return command('XLEN', JOURNAL) + (news.records and 1 or 0) end

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
