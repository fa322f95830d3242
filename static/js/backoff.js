const FIRST = 1000; // milliseconds
const CAP = 20000;

/**
 * Returns milliseconds to wait before a try, with full jitter below a ceiling that doubles. The sellers of a
 * dead replica thus reconnect spread out. attempt counts from 0.
 */
export function backoff(attempt, random = Math.random) {
  return random() * Math.min(CAP, FIRST * 2 ** Math.min(attempt, 10));
}
