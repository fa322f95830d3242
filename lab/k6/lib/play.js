import { begin } from "./metrics.js";
import { Room } from "./room.js";
import { until } from "./wait.js";

/**
 * play opens a room, plays the scenario in it, lets it run empty and judges it. A scene gets its time and no
 * more: in a broken room it might never end.
 */
export async function play(run, plan, scene) {
  begin();
  const room = new Room(run, plan);
  const end = Date.now() + (plan.duration + plan.drain) * 1000;
  let played = false;
  after(room, plan.duration * 1000, () => (room.stopped = true));
  scene(room, plan).then(() => (played = true));
  await until(end - Date.now(), () => played && room.sessions.size === 0);
  await room.settle();
}

/** after calls what once, ms from now, unless the room has stopped by then. */
export function after(room, ms, what) {
  setTimeout(() => room.stopped || what(), ms);
}

/** steady keeps the plan's sellers in the room until it stops. */
export const steady = (room, plan) => room.crowd(plan.sellers);
