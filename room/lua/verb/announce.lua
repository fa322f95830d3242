-- announce: support announces a text to all readers of a room, or takes it back.
--
-- args:
--   notice             see wire.BySupport; '' takes back what was announced
--   notice_until       until when pages show it (ms)
--   action             JSON members for the journal
-- Codes: ok, register (see existence.register). Publishes the announcement.

function verb.announce()
  local repeated = reply.repeated()
  if repeated then return repeated end
  if existence.unlisted() then return existence.register() end
  existence.wake()
  advance()

  support.record(args.action)
  support.set({ notice = args.notice, notice_until = args.notice_until })
  return reply.answer('ok', '')
end
