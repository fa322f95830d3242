// Support watches and acts while sellers wait; the desk's line must equal the sellers'.
import { options as optionsOf, plan as planOf } from "./lib/plan.js";
import { play, steady } from "./lib/play.js";
import { Desk } from "./lib/desk.js";
import { summary } from "./lib/summary.js";

export { setup } from "./lib/plan.js";

const plan = planOf("desk", { rooms: 3, sellers: 8, duration: 30, hold: 1500 });

export const options = optionsOf(plan);
export const handleSummary = summary("desk");

export default (run) =>
  play(run, plan, async (room) => {
    const desk = new Desk(room);
    const watching = await desk.open();
    await Promise.all([steady(room, plan), watching ? desk.work() : null]);
    desk.close();
  });
