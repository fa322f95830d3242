// A scenario's plan is its numbers; options makes k6's options of it. The environment may replace each number
// by its name in capitals.
import http from "k6/http";
import { over, settings } from "./settings.js";

/** The defaults of a plan. Times in ms; duration and drain in seconds. */
const BASE = {
  rooms: 10, // VUs: each plays one room
  sellers: 10, // in each room at any time
  duration: 60, // of the load, without the drain
  drain: 20, // how long the lines may take to run empty
  hold: 500, // mean length of a turn
  leave: 0.05, // share of impatient sellers
  act: 1500, // desk: pause of support between two actions
  faults: 0, // 1 = replicas may die: a request may be repeated
  handoffP99: 250,
  joinP99: 250,
  backP99: 3000,
};

/** plan returns a scenario's numbers, with the environment's over them. */
export function plan(name, numbers) {
  const p = over(Object.assign({}, BASE, numbers));
  if (settings.rooms.length > 0) p.rooms = settings.rooms.length;
  return Object.assign(p, { name });
}

/**
 * options returns k6's options: one VU for each room, one iteration as long as the
 * scenario, and the thresholds.
 */
export function options(p) {
  const zero = (name) => [name, ["count==0"]];
  const thresholds = Object.fromEntries([
    ["checks", ["rate==1"]],
    zero("two_holders"),
    zero("overtaken"),
    zero("lost_places"),
    ["handoff_ms", [`p(99)<${p.handoffP99}`]],
    ["join_ms", [`p(99)<${p.joinP99}`]],
    ["back_ms", [`p(99)<${p.backP99}`]],
    ["joined", ["count>0"]],
    ["handoffs", ["count>0"]],
  ]);
  if (!p.faults) thresholds.retries = ["count==0"];
  if (p.name === "desk") Object.assign(thresholds, { desk_wrong: ["count==0"], desk_checked: ["count>0"] });
  return {
    scenarios: {
      [p.name]: {
        executor: "per-vu-iterations",
        vus: p.rooms,
        iterations: 1,
        maxDuration: `${p.duration + p.drain + 60}s`,
        gracefulStop: "0s",
      },
    },
    thresholds,
    systemTags: ["name", "status", "check", "error_code"],
    summaryTrendStats: ["count", "min", "avg", "med", "p(90)", "p(95)", "p(99)", "max"],
    insecureSkipTLSVerify: __ENV.INSECURE === "1",
    setupTimeout: "60s",
  };
}

/** setup runs once and waits for a ready server. Every VU gets what it returns. */
export function setup() {
  const ready = http.get(`${settings.base}/readyz`, { tags: { name: "readyz" } });
  if (ready.status !== 200)
    throw new Error(`${settings.base}/readyz: ${ready.status || ready.error} ${ready.body ?? ""}`);
  return { id: __ENV.RUN || Date.now().toString(36) };
}
