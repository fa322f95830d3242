// Settings from the environment (k6 run -e NAME=VALUE). Everything else is in a scenario's plan.

const text = (name, fallback) => __ENV[name] || fallback;
const list = (name) => text(name, "").split(",").filter((s) => s !== "");

/** number reads a number; anything else stops the run before it starts. */
function number(name, fallback) {
  const value = text(name, "") === "" ? fallback : Number(__ENV[name]);
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name}=${__ENV[name]}: give a number`);
  return value;
}

/** seconds reads a length of time such as 90s, 10m or 45, in seconds. */
export function seconds(name, fallback) {
  const value = text(name, "");
  if (value === "") return fallback;
  const parts = /^(\d+)(s|m|h)?$/.exec(value);
  if (!parts) throw new Error(`${name}=${value}: give a length such as 90s or 10m`);
  return Number(parts[1]) * { s: 1, m: 60, h: 3600 }[parts[2] || "s"];
}

/** over replaces a plan's numbers by the environment's, named in capitals: sellers by SELLERS. */
export function over(plan) {
  const changed = {};
  for (const [name, value] of Object.entries(plan)) {
    const outside = name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase();
    if (name === "duration") changed[name] = seconds(outside, value);
    else changed[name] = typeof value === "number" ? number(outside, value) : value;
  }
  return changed;
}

const base = text("BASE_URL", "http://127.0.0.1:8080").replace(/\/+$/, "");

export const settings = {
  base,
  sockets: base.replace(/^http/, "ws"),
  rooms: list("ROOM_NAMES"), // existing rooms to use instead of fresh ones
  // fresh rooms are PREFIX:run:number; the server's ROOMS must allow PREFIX:*
  prefix: text("ROOM_PREFIX", "load"),
  smsSecret: text("SMS_SECRET", ""), // none = no simulated carrier, holders press done instead
  supportUser: text("SUPPORT_USER", "load"),
  supportPassword: text("SUPPORT_PASSWORD", ""),
  seed: number("SEED", 1),
  results: text("RESULTS", "results"), // where the summary is written
  clockSlack: number("CLOCK_SLACK", 250), // ms by which two replicas' readings of Redis's clock may differ
  awayAfter: seconds("AWAY_AFTER", 15), // the server's
};
