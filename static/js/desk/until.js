import { fill } from "../words.js";

const MINUTE = 60000;
const LENGTHS = [30, 60, 180, 720]; // minutes

/** The choice that ends when the room's hours begin next: no time is sent. */
export const HOURS = "hours";

/**
 * Returns choices of a time until which something holds. hours: also until the room's hours begin, which is
 * then picked, as an hour is otherwise. Times from latest on are left out.
 */
export function untils(t, now, { hours = false, latest = Infinity } = {}) {
  const times = [
    ...LENGTHS.map((n) => ({
      value: String(n),
      words: n < 60 ? fill(t.short_m, { n }) : fill(t.short_h, { n: n / 60 }),
      picked: !hours && n === 60,
    })),
    { value: "today", words: t.today },
  ].filter(({ value }) => chosenUntil(value, now) < latest);
  return hours ? [{ value: HOURS, words: t.until_hours, picked: true }, ...times] : times;
}

/**
 * Returns the end of a choice in unix ms; 0 for none. It is a whole minute, so that a further press sends the
 * same.
 */
export function chosenUntil(choice, now) {
  if (!choice || choice === HOURS) return 0;
  if (choice !== "today") return Math.ceil(now / MINUTE + Number(choice)) * MINUTE;
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1).getTime();
}
