import { byID, make } from "../dom.js";
import { fill, timeOfDay } from "../words.js";

const DAY = 86400000;

/** Draws the phones and providers of a room's texts, each with its last sign of life. */
export function drawSources(words, list) {
  byID("sources-panel").hidden = list.length === 0;
  byID("sources").replaceChildren(...list.map((source) => row(words, source)));
}

function row(t, { key, kind, heard_at: heard, clock_ms: off, events }) {
  const seconds = (Math.abs(off) / 1000).toFixed(1);
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row", translate: "no" },
      key || t.source_carrier,
      kind && kind !== key && make("span", { class: "soft" }, ` ${kind}`),
    ),
    make(
      "td",
      {},
      heard > 0 ? `${when(heard)} ` : make("span", { class: "chip warn" }, t.source_never),
      off !== 0 &&
        make("span", { class: "chip warn" }, fill(off > 0 ? t.clock_behind : t.clock_ahead, { n: seconds })),
      named(t, events),
    ),
  );
}

/** Returns the names of the last hour's events that were no text, with how often each came. */
function named(t, events = {}) {
  const names = Object.entries(events).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    names.length > 0 &&
    make("span", { class: "soft" }, ` ${t.no_texts} ${names.map(([name, n]) => `${name} ${n}`).join(", ")}`)
  );
}

/** Returns the time of day, with the date if over a day ago. */
function when(milliseconds) {
  const date = new Date(milliseconds);
  const day = Date.now() - milliseconds > DAY ? `${date.getMonth() + 1}/${date.getDate()} ` : "";
  return day + timeOfDay(date);
}
