// Words for waits and times. The server has the same rules in Go; one table of examples tests both.

const SOON = 10; // seconds

/**
 * Puts values into a pattern: {name}, {name:one:other} for a number and its noun, or {name:st:nd:rd:th} for
 * an ordinal number.
 */
export function fill(pattern, values) {
  return pattern.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name, list) => {
    const value = isolated(String(values[name] ?? ""));
    const forms = list?.split(":") ?? [];
    if (forms.length === 4) return value + forms[ordinal(Number(value))];
    if (forms.length === 0) return value;
    return `${value} ${value === "1" ? forms[0] : forms[1]}`;
  });
}

/** Returns which of st, nd, rd and th follows a number in English: 1st, 11th, 22nd, 113th. */
function ordinal(n) {
  const last = n % 10;
  return Math.floor(n / 10) % 10 === 1 || last === 0 || last > 3 ? 3 : last - 1;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/;

/** Keeps a right-to-left text from changing the order of its neighbours. */
export function isolated(text) {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

export function estimate(t, seconds) {
  if (seconds <= SOON) return t.soon;
  if (seconds < 60) return t.under_minute;
  const minutes = nearest(seconds);
  if (minutes < 60) return fill(t.about_minutes, { m: minutes });
  return hours(minutes, t.about_hours, t.about_hours_min);
}

/** Returns a wait in minutes, from an hour on in steps of five. */
function nearest(seconds) {
  const minutes = Math.floor((seconds + 30) / 60);
  return minutes < 60 ? minutes : Math.floor((minutes + 2) / 5) * 5;
}

/** Rounds up: the real wait must not exceed the shown maximum. */
function longest(seconds) {
  const minutes = Math.max(Math.floor((seconds + 59) / 60), 1);
  return minutes < 60 ? minutes : Math.floor((minutes + 4) / 5) * 5;
}

function ceiling(t, seconds) {
  const minutes = longest(seconds);
  if (minutes < 60) return fill(t.minutes, { m: minutes });
  return hours(minutes, t.hours, t.hours_min);
}

function hours(minutes, whole, rest) {
  const h = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? fill(whole, { h }) : fill(rest, { h, m: minutes % 60 });
}

/**
 * Returns the words for when the turn comes, and by when at the latest. If both are the same, it returns
 * the latest alone.
 */
export function waitParts(t, estimated, maximum, usual) {
  if (estimated == null || maximum == null) return [t.no_waits, ""];
  const latest = fill(t.wait_max, { max: ceiling(t, maximum) });
  if (estimated <= SOON) return [t.wait_soon, latest];
  if (estimated < 60) return [t.wait_under, latest];
  if (nearest(estimated) >= longest(maximum)) return [fill(t.wait_ceiling, { max: ceiling(t, maximum) }), ""];
  const range = minutes(estimated, maximum, usual);
  if (range) return [fill(t.wait_usual, range), latest];
  return [fill(t.wait_about, { wait: estimate(t, estimated) }), latest];
}

const ENOUGH = 9; // leases from which on a room's own average no longer needs its history
const HISTORY_WEIGHS = 4; // as much as so many leases

/**
 * Returns the wait that the page shows for an estimate: the rule of Expected in Go, which says what usual has.
 */
export function expected(estimated, maximum, usual) {
  if (estimated == null || maximum == null || !(usual.hold > 0) || usual.holds >= ENOUGH) return estimated;
  const { position, held, hold, holds, lease } = usual;
  const ahead = position - 1;
  const byHistory = HISTORY_WEIGHS * Math.min(rest(usual) + ahead * hold, maximum);
  const learned = (holds + 1) * estimated - (held ? ahead + 1 : ahead) * lease;
  return Math.ceil(Math.min(estimated, (byHistory + Math.max(learned, 0)) / (HISTORY_WEIGHS + holds)));
}

/** Returns how long the live lease is expected to take still, by the rule of the server's estimate. */
function rest({ hold, spread, lease, left }) {
  const wild = Math.min((spread / hold) ** 2, 1);
  const elapsed = Math.max(lease - left, 0);
  return Math.min(wild * Math.LN2 * hold + (1 - wild) * Math.max(hold - elapsed, 0), left);
}

const FOUR_OF_FIVE = 1.2816; // deviations
const DRIFTS = 0.25; // of the wait: what leavers and the hours change

/** Returns between how many minutes four waits of five lie, rounded outward: the rule of Usual in Go. */
function minutes(estimated, maximum, { position, spread, left }) {
  if (!(position >= 2 && position <= 100 && spread > 0)) return null;
  const n = position - 1;
  const turns = spread * Math.sqrt(n + (n * n) / 19);
  const off = FOUR_OF_FIVE * Math.hypot(Math.min(spread, left / 2), turns, DRIFTS * estimated);
  const from = Math.floor(Math.max(estimated - off, 0) / 60);
  const to = Math.ceil(Math.min(estimated + off, maximum) / 60);
  return from >= 1 && from < to && to < 60 ? { from, to } : null;
}

export function waitSentence(t, estimated, maximum, usual) {
  const [wait, latest] = waitParts(t, estimated, maximum, usual);
  return latest ? fill(t.wait_both, { wait, max: latest }) : wait;
}

/** Returns an approximate time of day. */
export function whenWords(t, hour, minute) {
  return fill(t.when, { time: timeWords(t, hour, minute) });
}

function timeWords(t, hour, minute) {
  const values = { h: ((hour + 11) % 12) + 1, hh: hour, mm: String(minute).padStart(2, "0") };
  return fill(hour < 12 ? t.morning : t.afternoon, values);
}

/** Returns when a closed room opens, as OpensWords in Go; both are dates of this machine's clock. */
export function opensWords(t, at, now) {
  const time = timeWords(t, at.getHours(), at.getMinutes());
  const days = (midnight(at) - midnight(now)) / 86400000;
  if (days <= 1) return fill(days < 1 ? t.opens_today : t.opens_tomorrow, { time });
  const date = fill(t.date, { month: t.months[at.getMonth()], day: at.getDate() });
  return fill(t.opens_on, { date, time });
}

const midnight = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());

export function span(t, seconds) {
  const m = Math.floor(seconds / 60);
  const s = seconds % 60;
  if (m === 0) return fill(t.seconds, { s });
  return s === 0 ? fill(t.minutes, { m }) : fill(t.minutes_sec, { m, s });
}

/** Returns m:ss; a started second counts as whole, so that 0:00 means over. */
export function clock(milliseconds) {
  const seconds = Math.floor(Math.max(milliseconds + 999, 0) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function timeOfDay(date) {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((n) => String(n).padStart(2, "0"))
    .join(":");
}

/** Returns the words for how many sellers are before a position. */
export function ahead(t, position) {
  return position <= 1 ? t.next : fill(t.ahead, { n: position - 1 });
}

/** Returns a place in line, which begins with its number. */
export const placeWords = (t, position) => fill(t.place, { n: position });

/** Returns a code in groups; up to five characters stay together. */
export function groups(code) {
  const half = Math.floor(code.length / 2);
  return code.length <= 5 ? [code] : [code.slice(0, half), code.slice(half)];
}

/**
 * Returns the waits of a state as of now. The server sends them at changes; until then the lease runs down,
 * and with it the maximum. The estimate stays until the maximum is less: a holder's remaining time need not
 * shrink, and the estimate must not fall below the server's next one.
 */
export function waitsNow(state, now, usual) {
  const { maximum_wait: maximum, lease_expires_at: until } = state;
  const estimated = expected(state.estimated_wait, maximum, usual);
  if (estimated == null || maximum == null || until == null) return { estimated, maximum };
  const gone = Math.max(0, Math.floor((Math.min(now, until) - state.server_time) / 1000));
  const most = Math.max(maximum - gone, 0);
  return { estimated: Math.min(estimated, most), maximum: most };
}
