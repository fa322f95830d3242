// Does it work at all? A few sellers in two rooms, each once.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { play } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("smoke", {
  rooms: 2,
  sellers: 8,
  duration: 10,
  hold: 200,
  leave: 0.1,
  handoffP99: 1000,
  joinP99: 1000,
});

export const options = optionsOf(plan);
export const handleSummary = summary("smoke");

export default (run) => play(run, plan, (room) => room.rush(plan.sellers, 1000));
