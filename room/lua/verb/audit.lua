-- audit: journals an action of support that leaves the room as it is, such as an export, or notifies the
-- desks of something that needs a person.
--
-- args:
--   kind, members      of the journal's record; kind '' = none
--   alert              whether the desks are notified
-- Codes: ok, register (see existence.register)
-- Publishes the alert, if there is one.

prepare.audit = 'itself'
function verb.audit()
  if args.kind ~= '' then
    if existence.unlisted() then return existence.register() end
    existence.wake()
  end
  advance()
  if args.kind ~= '' then journal.record(args.kind, nil, args.members) end
  if args.alert then messages.notify_desk() end
  return 'ok'
end
