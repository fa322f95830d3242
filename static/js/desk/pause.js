import { byID, put } from "../dom.js";
import { fill } from "../words.js";
import { stamp } from "./times.js";

/** Says who paused the room, since when and why; nothing while it is not paused, or while that is not known. */
export function drawPausedBy(words, paused, [pause], now) {
  const said = byID("paused-by");
  const known = paused && pause;
  said.hidden = !known;
  if (!known) return put(said, "");
  put(said, fill(words.paused_by, { who: pause.who, at: stamp(pause.at, now, "minute"), reason: pause.reason }));
}
