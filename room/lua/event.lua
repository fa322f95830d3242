-- event.lua: the one event in which a call publishes all that it has changed; event.go reads it.

-- add adds JSON to one of the event's lists, or to the journal's records.
function event.add(list, text)
  local texts = news[list]
  if texts then texts[#texts + 1] = text else news[list] = { text } end
end

-- lease_json returns the lease, with its seller if `seller` is not nil; null if the lock is free.
local function lease_json(seller)
  local r = room
  if r.session == '' then return 'null' end
  return '{"session":"' .. r.session .. '","ticket":' .. int(r.ticket) ..
    ',"fence":' .. int(r.fence) .. ',"granted_at":' .. int(r.granted) ..
    ',"expires_at":' .. int(r.expires) .. ',"asked":' .. int(r.asked) ..
    ',"open":' .. int(r.open) .. ',"ask_after":' .. int(r.ask_after) ..
    (r.claim_by > 0 and ',"claim_by":' .. int(r.claim_by) or '') ..
    (news.rank and ',"rank":' .. news.rank or '') .. (seller and ',"seller":"' .. seller .. '"}' or '}')
end

-- listed returns the texts of a list, joined.
local function listed(list)
  local texts = news[list]
  return not texts and '' or texts[2] and concat(texts, ',') or texts[1]
end

local function json()
  return '{"format":' .. FORMAT .. ',"epoch":' .. int(room.epoch) .. ',"version":' .. int(room.version) ..
    ',"lineage":"' .. room.lineage .. '","now":' .. int(NOW) .. ',"hold":' .. room.hold .. ',"spread":' ..
    room.spread .. (room.paused and ',"paused":true' or ',"paused":false') ..
    (change.any and ',"changed":true' or ',"changed":false') ..
    ',"lease":' .. lease_json(room.seller) .. ',"joined":[' .. listed('joined') ..
    '],"ended":[' .. listed('ended') .. '],"moved":[' .. listed('moved') ..
    (news.reset and '],"reset":true,"notes":[' or '],"reset":false,"notes":[') .. listed('notes') ..
    (news.missed and '],"missed":[' .. listed('missed') or '') .. ']}'
end

-- channel returns the channel of the room's events.
local function channel() return LOCK:sub(1, -5) .. settings.events end

-- publish publishes the event, and the new holder's lease on the channel that it asked for when it joined.
function event.publish()
  if settings.events ~= '' and (change.any or news.notes) then command('PUBLISH', channel(), json()) end
  if room.grant_channel and room.grant_channel ~= '' then
    command('PUBLISH', room.grant_channel,
      format('{"room":"%s",%s', LOCK:match('{(.*)}:lock$'), lease_json():sub(2)))
  end
end
