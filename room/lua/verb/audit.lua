-- audit: journals what support did that changes nothing in the room, or what a person should look at.
-- Codes: ok, register

function verb.audit()
  local repeated = reply.repeated()
  if repeated then return repeated end
  if args.kind ~= '' then
    if existence.unlisted() then return existence.register() end
    existence.wake()
  end
  advance()
  if args.kind ~= '' then journal.record(args.kind, args.members) end
  if args.alert then messages.notify_desk() end
  return reply.answer('ok', '')
end
