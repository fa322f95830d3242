// Tests the referee: it must report every wrong case and accept every unusual but correct
// one. Run by: make load-check
import { check } from "k6";
import { Referee } from "../lib/checks.js";
import { settings } from "../lib/settings.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const T = 1795000000000; // unix ms
const session = () => ({ ticket: null, known: 0, pardon: 0, over: "", missing: false, overtaken: false });
const standing = (status, ticket, version, more) =>
  Object.assign(
    {
      epoch: 1,
      version,
      status,
      outcome: null,
      ticket,
      position: null,
      fence: null,
      at: T + version,
      expires: T + 10000,
      granted: null,
    },
    more,
  );
const waits = (ticket, version, more) =>
  standing("waiting", ticket, version, Object.assign({ position: 1 }, more));
const holds = (ticket, version, fence, more) =>
  standing("locked", ticket, version, Object.assign({ fence }, more));

/** Each case plays three sessions with tickets 1, 2 and 3, and names the failures to expect. */
const CASES = {
  "a room in order": [{}, (r, a, b) => {
    r.observed(a, holds(1, 1, 10));
    r.observed(b, waits(2, 2));
    r.done(a, "completed");
    r.observed(b, holds(2, 3, 11));
  }],
  "two fences at one version": [{ two: 1 }, (r, a, b) => {
    r.observed(a, holds(1, 5, 10));
    r.observed(b, holds(2, 5, 11));
    r.done(a, "completed");
  }],
  "an old holder at a version after the next one's": [{ two: 1 }, (r, a, b) => {
    r.observed(a, holds(1, 1, 10));
    r.observed(b, holds(2, 3, 11));
    r.observed(a, holds(1, 4, 10));
    r.done(a, "completed");
  }],
  "overlapping server times": [{ two: 1 }, (r, a, b) => {
    r.observed(b, holds(2, 3, 11, { granted: T }));
    r.observed(a, holds(1, 1, 10, { at: T + settings.clockSlack + 1 }));
    r.done(a, "completed");
  }],
  "a lease without an end": [{ two: 1 }, (r, a, b) => {
    r.observed(a, holds(1, 1, 10, { granted: T }));
    r.observed(b, holds(2, 2, 11, { granted: T + 1000 }));
  }],
  "a lease that expired": [{}, (r, a, b) => {
    r.observed(a, holds(1, 1, 10, { granted: T }));
    r.observed(b, holds(2, 2, 11, { granted: T + 10000 }));
  }],
  "one fence of two sessions": [{ two: 1 }, (r, a, b) => {
    r.observed(a, holds(1, 1, 10));
    r.observed(b, holds(2, 1, 10));
  }],
  "still waiting at a version at which a later ticket held": [{ overtaken: 1 }, (r, a, b, c) => {
    r.observed(a, waits(1, 1));
    r.observed(b, waits(2, 2));
    r.observed(c, holds(3, 4, 10));
    r.observed(a, waits(1, 4));
    r.observed(a, waits(1, 5));
    r.done(c, "completed");
  }],
  "granted after a later ticket": [{ overtaken: 1 }, (r, a, b, c) => {
    r.observed(b, waits(2, 2));
    r.observed(c, holds(3, 4, 10));
    r.done(c, "completed");
    r.observed(b, holds(2, 5, 11));
    r.observed(a, standing("ended", null, 6, { outcome: "cancelled" }));
    r.tickets.set(1, a);
  }],
  "a late frame of an earlier grant": [{}, (r, a, b, c) => {
    r.tickets.set(1, a);
    r.observed(c, holds(3, 5, 12));
    r.observed(b, waits(2, 2));
    r.observed(b, holds(2, 4, 11));
    r.done(b, "completed");
  }],
  "passed over while away": [{}, (r, a, b, c) => {
    r.tickets.set(1, a);
    r.observed(b, waits(2, 2));
    r.observed(c, holds(3, 4, 10));
    r.observed(b, waits(2, 6), settings.awayAfter * 1000);
  }],
  "moved by support": [{}, (r, a, b, c) => {
    r.tickets.set(1, a);
    r.moved.add(3);
    r.observed(b, waits(2, 2));
    r.observed(c, holds(3, 4, 10));
    r.observed(b, waits(2, 6));
  }],
  "a frame without its place": [{ lost: 1 }, (r, a) => {
    r.observed(a, waits(1, 3));
    r.observed(a, standing("idle", null, 2));
    r.observed(a, standing("idle", null, 3));
  }],
  "a frame with a lost place": [{ lost: 1 }, (r, a) => {
    r.observed(a, waits(1, 3));
    r.observed(a, standing("ended", 1, 4, { outcome: "lost" }));
  }],
  "another ticket than before": [{ lost: 1 }, (r, a) => {
    r.observed(a, waits(1, 3));
    r.observed(a, waits(2, 4));
  }],
  "a ticket of no session": [{ lost: 1 }, (r, a, b, c) => {
    r.observed(a, waits(1, 1));
    r.observed(c, waits(3, 3));
  }],
};

export default () => {
  for (const [name, [found, play]] of Object.entries(CASES)) {
    const referee = new Referee(name);
    referee.epoch = 1;
    play(referee, session(), session(), session());
    referee.close(true);
    const expected = Object.assign({ two: 0, overtaken: 0, lost: 0 }, found);
    const ok = check(null, { [name]: () => JSON.stringify(referee.found) === JSON.stringify(expected) });
    if (!ok)
      console.error(`${name}: found ${JSON.stringify(referee.found)}, not ${JSON.stringify(expected)}`);
  }
};
