import { minuteOf } from "./time.js";

const MINUTE = 60000;
const HOUR = 60;

/** The order in which endings are stacked and listed. */
export const OUTCOMES = [
  "completed",
  "cancelled",
  "expired",
  "forced",
  "removed",
  "unclaimed",
  "dropped",
  "lost",
];

/**
 * Returns the last hour by the minute, without holes, oldest first; null for unknown values. depth: how many
 * sellers wait now, for the running minute.
 */
export function lastHour(minutes, now, depth) {
  const known = new Map(minutes.map((minute) => [minute.at, minute]));
  const last = minuteOf(now);
  return Array.from({ length: HOUR }, (_, i) => {
    const at = last - (HOUR - 1 - i) * MINUTE;
    const row = read(at, known.get(at));
    return at === last ? { ...row, depth: depth ?? row.depth } : row;
  });
}

function read(at, minute = {}) {
  const number = (value) => (value == null || value < 0 ? null : value);
  const row = { at, outcomes: minute.outcomes ?? {} };
  for (const name of ["depth", "granted", "wait_p50", "wait_p95", "delay_p50", "delay_p95"])
    row[name] = number(minute[name]);
  return row;
}

/** Returns the outcomes in the hour, in their order; an unknown one comes last. */
export function outcomesOf(hour) {
  const seen = new Set(
    hour.flatMap(({ outcomes }) => Object.keys(outcomes).filter((name) => outcomes[name] > 0)),
  );
  return [
    ...OUTCOMES.filter((name) => seen.has(name)),
    ...[...seen].filter((name) => !OUTCOMES.includes(name)),
  ];
}

/** Returns for each name the sum up to it, minute by minute: the upper edge of its part of the stack. */
export function stacked(hour, names) {
  const sums = hour.map(() => 0);
  return names.map((name) => hour.map(({ outcomes }, i) => (sums[i] += outcomes[name] ?? 0)));
}
