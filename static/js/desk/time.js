import { fill } from "../words.js";

const MINUTE = 60000;

/** Returns a running length of time, h:mm:ss without leading zeros: "0:42", "12:04", "1:02:04". */
export function elapsed(milliseconds) {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Returns a length of time in its largest unit, for figures: "3ms", "42초", "12분". */
export function short(t, milliseconds) {
  if (milliseconds < 1000) return fill(t.short_ms, { n: Math.round(milliseconds) });
  if (milliseconds < 10000)
    return fill(t.short_s, { n: (milliseconds / 1000).toFixed(1).replace(/\.0$/, "") });
  if (milliseconds < 2 * MINUTE) return fill(t.short_s, { n: Math.round(milliseconds / 1000) });
  if (milliseconds < 120 * MINUTE) return fill(t.short_m, { n: Math.round(milliseconds / MINUTE) });
  return fill(t.short_h, { n: (milliseconds / 60 / MINUTE).toFixed(1).replace(/\.0$/, "") });
}

/** Returns the minute that a moment is in, in unix ms. */
export function minuteOf(milliseconds) {
  return Math.floor(milliseconds / MINUTE) * MINUTE;
}

export function hourAndMinute(milliseconds) {
  const date = new Date(milliseconds);
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}
