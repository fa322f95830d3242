-- state.lua: the state as values, and what is noted of it until it is written. For every verb.

local S
local NO_CODES, NONE_OPEN = '0|0|0|0|0|0|0|0', '|0|0' -- what no_codes is, written down; and that no ended lease left an ask open

-- no_codes is a lease that has nothing to do with codes yet.
local function no_codes()
  S.asking, S.asked, S.open, S.ask_after, S.codes, S.put_off, S.rejects, S.last_ask = false, 0, 0, 0, 0, false, 0, 0
end

-- set_average sets how long leases are held and how far that lies from it (ms), and both as they are written and told.
local function set_average(hold, spread)
  S.hold, S.spread = hold, spread
  S.hold_text, S.spread_text = string.format('%.3f', hold), string.format('%.3f', spread)
end

-- since is from when asks may be missing, up to now: they were missing from `from` on, and up to `lost` from `lost_from` on. A message that comes late may
-- have been sent before both.
local function since(from, lost, lost_from) return lost > 0 and NOW - lost < LEASES_KEPT and math.min(from, lost_from) or from end

-- S is the state as values.
do
  local v = state
  -- An older program let every lease weigh a fifth and knew no spread: its average goes on with that weight.
  S = {
    epoch = whole(v.epoch or '0'), version = (v.version or 0) + 0, tickets = (v.tickets or 0) + 0, fence = whole(v.fence or '0'),
    hold = (v.hold or LEASE) + 0, spread = (v.spread or 0) + 0, holds = (v.holds or (v.hold and 3 or 0)) + 0, hold_text = v.hold, spread_text = v.spread,
    paused = v.paused == '1', session = v.session or '', seller = v.seller or '', ticket = whole(v.ticket or '0'),
    granted = whole(v.granted or '0'), expires = whole(v.expires or '0'), quiet = (v.quiet or 0) + 0, over = whole(v.over or '0'),
    looked = (v.looked or 0) + 0, trust = (v.trust or 0) + 0, lost = (v.lost or 0) + 0, lost_from = (v.lost_from or 0) + 0,
    format = (v.format or 0) + 0, -- 0: written before there were formats
    lineage = v.lineage or '', doubt = (v.doubt or 0) + 0,
    -- Until when the lease is to be claimed (0 = it need not be, as far as is known), and with what rank it waited before; no rank where it was claimed or need not be.
    claim = 0, claim_text = v.claim or '', rank = nil,
    -- What the lease has to do with codes: whether it is asking, how often it asked, how many asks no code has come for, from when
    -- it may ask (0 = at once), how many codes came where it is not asking, whether a busy number has put its end off, how many messages it rejected,
    -- and when it asked last. The asks themselves are read where they are needed: asks.lua.
    asking = false, asked = 0, open = 0, ask_after = 0, codes = 0, put_off = false, rejects = 0, last_ask = 0,
    -- The latest ask that an ended lease may have left unanswered: whose, when, and when the latest of anybody else; and up to which of them one may have been answered since.
    open_session = '', open_at = 0, open_other = 0, unsure = (v.unsure or 0) + 0,
    awaits = '', awaited = 0, line = false,
    noted = 0, noted_from = 0, turned = 0, turned_from = 0, above = (v.above or 0) + 0, channel = nil, begun = nil, last = nil,
  }
  if not (v.hold and v.spread) or S.hold > LEASE or S.spread > LEASE then set_average(math.min(S.hold, LEASE), math.min(S.spread, LEASE)) end
  if S.session ~= '' and (v.codes or NO_CODES) ~= NO_CODES then
    local asking, asked, open, after, code, off, rejects, last = v.codes:match('^(%d)|(%d+)|(%d+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)$')
    S.asking, S.asked, S.open, S.ask_after = asking == '1', (asked or 0) + 0, (open or 0) + 0, (after or 0) + 0
    S.codes, S.put_off, S.rejects, S.last_ask = (code or 0) + 0, off == '1', (rejects or 0) + 0, (last or 0) + 0
  end
  if (v.unanswered or NONE_OPEN) ~= NONE_OPEN then
    local session, at, other = v.unanswered:match('^([^|]*)|(%d+)|(%d+)$')
    S.open_session, S.open_at, S.open_other = session or '', (at or 0) + 0, (other or 0) + 0
  end
  if v.awaited then -- "when|session", see await in asks.lua
    local at, session = v.awaited:match('^(%d+)|(.*)$')
    S.awaits, S.awaited = session, at + 0
  end
  if S.trust > NOW + TRUSTED then S.trust = 0 end -- the clock went back
  S.noted, S.noted_from = S.lost, S.lost_from -- in the state, for everybody
  S.turned, S.turned_from = (v.turned or 0) + 0, (v.turned_from or 0) + 0 -- see turn_clock in times.lua
  if S.turned > 0 then
    S.lost_from = S.turned > S.lost and since(S.turned_from, S.lost, S.lost_from) or since(S.lost_from, S.turned, S.turned_from)
    S.lost = math.max(S.lost, S.turned)
  end
  if STEPPED > S.lost then S.lost, S.lost_from = STEPPED, 0 end -- how long ago anybody asked is not known
  if S.claim_text ~= '' then
    local fence, by, rank = v.claim:match('^(%d+)|(%d+)|(.+)$')
    if fence + 0 == S.fence and S.session ~= '' then S.claim, S.rank = by + 0, rank end
  end
end

if S.format > FORMAT then return 'newer' end

-- Where nobody was ever to claim a lease, all is written as a program without claims wrote it, and one may serve beside this one.
local WRITES = (CLAIM_WITHIN > 0 or S.format > 1) and 2 or 1

-- change is what is to be written, and news what is to be told: lists for the event, and the journal's lines.
local change = { any = false, lease = false, codes = false, trust = false, average = false }
local news = { joined = false, ended = false, moved = false, notes = false, missed = false, records = false, rank = false, reset = false }

-- tell adds to a list of the news.
local function tell(list, text)
  local told = news[list]
  if told then told[#told + 1] = text else news[list] = { text } end
end

local ORPHANED = '-' -- holds the lock where a loss took its holder: until the lease would have ended, nobody is granted
local function held() return S.session ~= '' end

-- ends is when the lease is over with nobody doing anything.
local function ends() return S.claim > 0 and math.min(S.claim, S.expires) or S.expires end

-- record adds a line to the journal; `rest` is JSON members without braces, or a format for what follows.
local function record(kind, rest, ...)
  if JOURNAL_MAX == 0 then return end
  if select('#', ...) > 0 then rest = string.format(rest, ...) end
  tell('records', '{"type":"' .. kind .. '","at":' .. int(NOW) .. (rest and ',' .. rest or '') .. '}')
end

-- history names the server's history: its replication id, which changes with a restart and a promotion, when the last writes may be missing.
-- "" where the server does not say.
local history = EVENTS ~= '' and redis.pcall('INFO', 'replication') or ''
do
  local _, last = (type(history) == 'string' and history or ''):find('master_replid:', 1, true)
  history = last and history:match('^%x%x%x%x%x%x%x%x%x%x%x%x', last + 1) or ''
end
