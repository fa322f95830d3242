// A campaign opens: after a third of the time many more sellers come to every room within a second.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { after, play, steady } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("spike", {
  rooms: 4,
  sellers: 3,
  spike: 60,
  duration: 30,
  drain: 40,
  hold: 150,
  handoffP99: 500,
  joinP99: 1500,
});

export const options = optionsOf(plan);
export const handleSummary = summary("spike");

export default (run) =>
  play(run, plan, async (room) => {
    after(room, (plan.duration * 1000) / 3, () => room.rush(plan.spike, 1000));
    await steady(room, plan);
  });
