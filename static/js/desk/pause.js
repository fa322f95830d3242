import { byID, put } from "../dom.js";
import { fill } from "../words.js";
import { stamp } from "./times.js";

/** Shows the agent who paused the room, the time and the reason; nothing while it runs or that is unknown. */
export function drawPausedBy(words, paused, [pause], now) {
  const line = byID("paused-by");
  const known = paused && pause;
  line.hidden = !known;
  if (!known) return put(line, "");
  put(
    line,
    fill(words.paused_by, { who: pause.who, at: stamp(pause.at, now, "minute"), reason: pause.reason }),
  );
}
