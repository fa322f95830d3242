// A network breaks: every socket of every room is lost at once, again and again, and all reconnect.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { after, play, steady } from "./lib/play.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("storm", {
  rooms: 2,
  sellers: 200,
  every: 10,
  duration: 35,
  hold: 1000,
  faults: 1,
  handoffP99: 3000,
  joinP99: 3000,
});

export const options = optionsOf(plan);
export const handleSummary = summary("storm");

export default (run) =>
  play(run, plan, async (room) => {
    for (let at = plan.every; at < plan.duration; at += plan.every) {
      after(room, at * 1000, () =>
        room.sessions.forEach((session) => session.tabs.forEach((tab) => tab.drop())),
      );
    }
    await steady(room, plan);
  });
