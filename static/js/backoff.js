const FIRST = 1000; // milliseconds
const CAP = 20000;

/**
 * How long to wait before a try, in milliseconds, with full jitter: anywhere below a
 * ceiling that doubles, so that the sellers of a replica that went away come back
 * spread out. attempt counts from 0.
 */
export function backoff(attempt, random = Math.random) {
  return random() * Math.min(CAP, FIRST * 2 ** Math.min(attempt, 10));
}
