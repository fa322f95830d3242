import { check } from "k6";

const MOST = 20; // lines for each VU: one fault mostly shows a thousand times
let reports = 0;

/** report writes a failure to the console, the first few times. */
export function report(what, detail) {
  if (++reports <= MOST)
    console.error(`${what}: ${typeof detail === "object" ? JSON.stringify(detail) : detail}`);
}

/** holds is one check under its name in k6; where it fails, detail gives the reason. */
export function holds(name, ok, detail = "") {
  check(null, { [name]: () => ok });
  if (!ok) report(name, detail);
  return ok;
}
