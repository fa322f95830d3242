import { check } from "k6";

const MOST = 20; // lines for each VU: what is broken once is mostly broken a thousand times
let said = 0;

/** say writes what went wrong, the first few times. */
export function say(what, detail) {
  if (++said <= MOST) console.error(`${what}: ${typeof detail === "object" ? JSON.stringify(detail) : detail}`);
}

/** holds is one check, with its name as k6 counts it; where it fails, detail says why. */
export function holds(name, ok, detail = "") {
  check(null, { [name]: () => ok });
  if (!ok) say(name, detail);
  return ok;
}
