-- text.lua: numbers and times as text.

-- written caches the text of whole numbers: formatting takes long, and most numbers are
-- written several times. Its keys are negative: for positive ones the embedded store's Lua
-- makes an array that reaches to the number.
local written, cached = {}, 0

-- int returns a whole number as text, exactly.
function int(n)
  local text = written[-n]
  if not text then
    if cached == 500 then written, cached = {}, 0 end
    text = format('%d', n)
    written[-n], cached = text, cached + 1
  end
  return text
end

-- date returns a day, counted from 1970, as YYYY-MM-DD of the proleptic Gregorian calendar.
local function date(days) -- its years begin in March
  local z = days + 719468
  local era = floor(z / 146097)
  local day_of_era = z - era * 146097
  local leap_days =
    floor(day_of_era / 1460) - floor(day_of_era / 36524) + floor(day_of_era / 146096)
  local years = floor((day_of_era - leap_days) / 365)
  local day_of_year = day_of_era - (365 * years + floor(years / 4) - floor(years / 100))
  local months = floor((5 * day_of_year + 2) / 153)
  local month = months < 10 and months + 3 or months - 9
  local year = years + era * 400 + (month <= 2 and 1 or 0)
  return format('%04d-%02d-%02d', year, month, day_of_year - floor((153 * months + 2) / 5) + 1)
end

local minutes, cached_minutes = {}, 0

-- minute returns a minute, counted from 1970, as text up to its seconds.
-- It caches a few, since the times of a room are mostly of a few minutes.
local function minute(n)
  local text = minutes[-n]
  if not text then
    if cached_minutes == 20 then minutes, cached_minutes = {}, 0 end
    text = format('%sT%02d:%02d:', date(floor(n / 1440)), floor(n / 60) % 24, n % 60)
    minutes[-n], cached_minutes = text, cached_minutes + 1
  end
  return text
end

-- instant returns a unix second and its three digits of milliseconds as RFC 3339 in UTC.
function instant(second, millis)
  local n = floor(second / 60)
  return minute(n) .. int(100 + second - n * 60):sub(2) .. '.' .. millis .. 'Z'
end

-- iso returns unix ms as RFC 3339 in UTC.
function iso(ms)
  local second = floor(ms / 1000)
  return instant(second, int(1000 + ms - second * 1000):sub(2))
end
