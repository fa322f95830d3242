// An ordinary day: the same number of sellers in every room at any time.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { play, steady } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("steady", {});

export const options = optionsOf(plan);
export const handleSummary = summary("steady");

export default (run) => play(run, plan, steady);
