// Words for waits and times. The server has the same rules in Go; one table of
// examples holds both to them.

const SOON = 10; // seconds

/** Puts values into a pattern: {name}, or {name:one:other} for a number and its noun. */
export function fill(pattern, values) {
  return pattern.replace(/\{(\w+)(?::([^:}]*):([^}]*))?\}/g, (_, name, one, other) => {
    const value = String(values[name] ?? "");
    if (!other) return value;
    return `${value} ${value === "1" ? one : other}`;
  });
}

export function estimate(t, seconds) {
  if (seconds <= SOON) return t.soon;
  if (seconds < 60) return t.under_minute;
  const minutes = nearest(seconds);
  if (minutes < 60) return fill(t.about_minutes, { m: minutes });
  return hours(minutes, t.about_hours, t.about_hours_min);
}

/** A wait in minutes, from an hour on in steps of five. */
function nearest(seconds) {
  const minutes = Math.floor((seconds + 30) / 60);
  return minutes < 60 ? minutes : Math.floor((minutes + 2) / 5) * 5;
}

/** Rounds up: what is said to be the longest wait must not be exceeded. */
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

/** When my turn comes, and by when at the latest. Where both are the same, the latest is all that is said. */
export function waitParts(t, estimated, maximum) {
  if (estimated == null || maximum == null) return [t.no_waits, ""];
  const latest = fill(t.wait_max, { max: ceiling(t, maximum) });
  if (estimated <= SOON) return [t.wait_soon, latest];
  if (estimated < 60) return [t.wait_under, latest];
  if (nearest(estimated) >= longest(maximum)) return [fill(t.wait_ceiling, { max: ceiling(t, maximum) }), ""];
  return [fill(t.wait_about, { wait: estimate(t, estimated) }), latest];
}

export function waitSentence(t, estimated, maximum) {
  const [said, latest] = waitParts(t, estimated, maximum);
  return latest ? fill(t.wait_both, { wait: said, max: latest }) : said;
}

/** A time of day, about. */
export function whenWords(t, hour, minute) {
  const values = { h: ((hour + 11) % 12) + 1, hh: hour, mm: String(minute).padStart(2, "0") };
  return fill(t.when, { time: fill(hour < 12 ? t.morning : t.afternoon, values) });
}

export function span(t, seconds) {
  const m = Math.floor(seconds / 60);
  const s = seconds % 60;
  if (m === 0) return fill(t.seconds, { s });
  return s === 0 ? fill(t.minutes, { m }) : fill(t.minutes_sec, { m, s });
}

/** m:ss; a second that has begun counts as whole, so that 0:00 means over. */
export function clock(milliseconds) {
  const seconds = Math.floor(Math.max(milliseconds + 999, 0) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function timeOfDay(date) {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}

/** Who goes before a position. */
export function ahead(t, position) {
  return position <= 1 ? t.next : fill(t.ahead, { n: position - 1 });
}

/** A code in the groups that it is shown in; up to five characters stay together. */
export function groups(code) {
  const half = Math.floor(code.length / 2);
  return code.length <= 5 ? [code] : [code.slice(0, half), code.slice(half)];
}

/**
 * The waits of a state as of now. The server tells them when something changes; until then the
 * lease runs down, and with it the maximum. The estimate stays until that is less: how long the
 * holder still takes need not grow less with time, and this must not fall below what the server
 * will say next.
 */
export function waitsNow(state, now) {
  const { estimated_wait: estimated, maximum_wait: maximum, lease_expires_at: until } = state;
  if (estimated == null || maximum == null || until == null) return { estimated, maximum };
  const gone = Math.max(0, Math.floor((Math.min(now, until) - state.server_time) / 1000));
  const most = Math.max(maximum - gone, 0);
  return { estimated: Math.min(estimated, most), maximum: most };
}
