-- event.lua: the one event in which a call publishes all that it has changed; wire.Event is how Go reads it.

-- The lists of an event, and how each of their members is written.
local WRITER = { joined = 'joined', moved = 'joined', ended = 'finished', missed = 'missed', notes = 'note' }

-- add adds a member to one of the event's lists.
function event.add(list, v)
  if settings.events == '' then return end
  local texts, text = news[list], wire[WRITER[list]](v)
  if texts then texts[#texts + 1] = text else news[list] = { text } end
end

-- note adds a change that does not change the version.
function event.note(v)
  v.ticket = v.ticket or 0
  event.add('notes', v)
end

-- listed returns a list as a JSON member, '' if it is empty.
local function listed(list)
  local texts = news[list]
  return not texts and '' or ',"' .. list .. '":[' .. (texts[2] and concat(texts, ',') or texts[1]) .. ']'
end

local function json()
  local held = leases.held()
  return '{"format":' .. FORMAT .. ',"now":' .. int(NOW) .. ',' .. state.room_json() ..
    (change.any and ',"changed":true' or '') .. (held and ',"lease":{' or '') ..
    (held and state.lease_json() or '') .. (held and ',' or '') .. (held and wire.holder(room) or '') ..
    (held and news.rank and ',"rank":' or '') .. (held and news.rank or '') .. (held and '}' or '') ..
    listed('joined') .. listed('ended') .. listed('moved') .. (news.reset and ',"reset":true' or '') ..
    listed('notes') .. listed('missed') .. '}'
end

-- channel returns the channel of the room's events.
local function channel() return LOCK:sub(1, -5) .. settings.events end

-- publish publishes the event, and the new holder's lease on the channel that it asked for when it joined.
function event.publish()
  if settings.events ~= '' and (change.any or news.notes) then command('PUBLISH', channel(), json()) end
  if memo.grant_channel and memo.grant_channel ~= '' then
    command('PUBLISH', memo.grant_channel,
      '{"room":"' .. LOCK:match('{(.*)}:lock$') .. '",' .. state.lease_json() .. ',' ..
      wire.holder(room) .. '}')
  end
end
