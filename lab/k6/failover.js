// A replica is killed in the middle and comes back. lab/run kills it; in a run by hand, kill one yourself.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { play, steady } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("failover", { duration: 40, faults: 1, handoffP99: 3000, joinP99: 1500 });

export const options = optionsOf(plan);
export const handleSummary = summary("failover");

export default (run) => play(run, plan, steady);
