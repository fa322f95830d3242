-- Each file is a block of one library: see library.lua, which declares what they share.
std = 'lua51'
max_line_length = 110
read_globals = { 'redis', 'cjson' }
globals = {
  'LOCK', 'QUEUE', 'STATE', 'PLACES', 'SELLERS', 'SEEN', 'AWAY', 'ENDED', 'LEASES', 'JOURNAL', 'HERE',
  'INBOX', 'TEXTS', 'ONCE', 'OWN',
  'NOW', 'US', 'settings', 'caller', 'args', 'room', 'change', 'news', 'memo',
  'clock', 'state', 'lineage', 'existence', 'journal', 'event', 'places', 'line', 'leases', 'asks', 'presence',
  'messages', 'matching', 'support', 'reply', 'thin', 'verb', 'prepare', 'wire',
  'int', 'iso', 'instant', 'advance', 'call',
  'rare', 'from_argv', 'take_globals', 'command', 'format', 'concat', 'max', 'min', 'floor',
  'FORMAT', 'OPEN_FOR', 'LONGEST', 'SETTLING', 'BATCH', 'ORPHANED',
}
files['library.lua'] = { ignore = { '211', '221', '231', '241', '331' } } -- the other files use what it declares
files['functions.lua'] = { read_globals = { 'NAME' } }
files['lazily.lua'] = { ignore = { '211' } }
files['index'] = { read_globals = { 'KEYS', 'ARGV' } }
