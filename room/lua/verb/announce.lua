-- announce: support announces a text to all readers of a room, or takes it back.
--
-- args:
--   notice             see wire.BySupport; '' takes back what was announced
--   notice_until       until when pages show it (ms)
--   action             JSON members for the journal
-- Codes: ok. Publishes the announcement.

prepare.announce = 'begin'
function verb.announce()
  support.record(args.action)
  support.set({ notice = args.notice, notice_until = args.notice_until })
  return 'ok'
end
