-- text.lua: numbers and times as text.

-- written has the text of whole numbers, by their negatives: formatting takes long, and most are written several times.
-- (With positive keys the Lua of the embedded store would make an array that reaches up to the number.)
local written, cached = {}, 0

-- int formats a whole number exactly.
function int(n)
  local text = written[-n]
  if not text then
    if cached == 500 then written, cached = {}, 0 end
    text = string.format('%d', n)
    written[-n], cached = text, cached + 1
  end
  return text
end

local day, day_text

-- date formats a day, counted from 1970, of the proleptic Gregorian calendar.
local function date(days)
  if days == day then return day_text end
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  day, day_text = days, string.format('%04d-%02d-%02d', year, month, doy - math.floor((153 * mp + 2) / 5) + 1)
  return day_text
end

-- iso formats unix ms as RFC 3339 in UTC.
function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  return string.format('%sT%02d:%02d:%02d.%03dZ', date(days), math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end
