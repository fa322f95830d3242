-- text.lua: numbers and times as text. For every verb.

-- What whole numbers are as text, by their negatives: to write one takes long, and most are written several times. (By the number itself, the embedded
-- store's Lua would make an array that reaches up to it.)
local written, more = { [0] = '0', [-1] = '1', [-2] = '2', [-3] = '3', [-4] = '4', [-5] = '5', [-6] = '6', [-7] = '7', [-8] = '8', [-9] = '9', [-10] = '10',
  [-11] = '11', [-12] = '12', [-13] = '13', [-14] = '14', [-15] = '15', [-16] = '16' }, 40 -- so many that there is room for others: a table that grows costs more

-- int writes a whole number; %d is exact here and much faster than %.0f.
local function int(n)
  local text = written[-n]
  if not text then
    text = string.format('%d', n)
    if more > 0 then written[-n], more = text, more - 1 end
  end
  return text
end

-- whole reads one that int wrote, and is likely to be written again.
local function whole(text)
  local n = text + 0
  written[-n] = text
  return n
end

-- date writes a day of the proleptic Gregorian calendar, counted from 1970. Two times are mostly of one day.
local dates = {}
local function date(days)
  if dates[days] then return dates[days] end
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  dates[days] = string.format('%04d-%02d-%02d', year, month, doy - math.floor((153 * mp + 2) / 5) + 1)
  return dates[days]
end

-- iso writes unix ms as RFC 3339 in UTC.
local function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  return string.format('%sT%02d:%02d:%02d.%03dZ', date(days), math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

return int, whole, iso
