-- open: support opens or closes a room outside the times of its hours, or lets the hours decide again.
--
-- args:
--   open_until         until when the room takes new places outside its hours (ms); 0 = it does not
--   closed_until       until when it takes none (ms); 0 = the hours decide
--   action             JSON members for the journal
-- Codes: ok. Publishes until when.

prepare.open = 'begin'
function verb.open()
  support.record(args.action)
  support.set({ open_until = args.open_until, closed_until = args.closed_until })
  return 'ok'
end
