// An ordinary day, for long: a leak grows for ever. The runner watches the memory of replicas and Redis.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { play, steady } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("soak", { rooms: 5, sellers: 20, duration: 600, hold: 1000 });

export const options = optionsOf(plan);
export const handleSummary = summary("soak");

export default (run) => play(run, plan, steady);
