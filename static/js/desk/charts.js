import { Chart } from "./chart.js";
import { lastHour, outcomesOf, stacked } from "./minutes.js";
import { short } from "./time.js";

export const COUNTS = [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));
const SECOND = 1000;
const MINUTE = 60 * SECOND;
export const TIMES = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440].map((n) => n * MINUTE),
];

/** The four figures of the last hour. Each shows the same numbers as a plot and as a table. */
export class Charts {
  #drawn = "";

  constructor(words) {
    this.words = words;
    const times = { words, format: (ms) => short(words, ms), steps: TIMES };
    const counts = { words, format: (n) => n.toLocaleString(), steps: COUNTS };
    this.depth = new Chart({ name: "depth", ...counts });
    this.waits = new Chart({ name: "waits", ...times });
    this.delays = new Chart({ name: "delays", ...times });
    this.outcomes = new Chart({ name: "outcomes", ...counts });
  }

  /** depth: how many sellers wait now. */
  draw(minutes, now, depth) {
    const hour = lastHour(minutes, now, depth);
    const data = JSON.stringify(hour);
    if (data === this.#drawn) return;
    this.#drawn = data;
    const at = hour.map((minute) => minute.at);
    this.depth.draw({ at, series: [line(this.words, hour, "depth", "--chart-1")] });
    this.waits.draw({ at, series: percentiles(this.words, hour, "wait") });
    this.delays.draw({ at, series: percentiles(this.words, hour, "delay") });
    this.outcomes.draw({ at, series: stack(this.words, hour) });
  }
}

/** Returns the series of a median and a 95th percentile. */
export function percentiles(words, rows, what) {
  return [line(words, rows, `${what}_p50`, "--chart-1"), line(words, rows, `${what}_p95`, "--chart-2")];
}

function line(words, rows, name, color) {
  return { name, color, words: words.series[name], values: rows.map((row) => row[name]) };
}

/** Returns the series of a stack of endings. */
export function stack(words, rows) {
  const names = outcomesOf(rows);
  const edges = stacked(rows, names);
  return names.map((name, i) => ({
    name,
    color: `--end-${name}`,
    words: words.outcomes[name] ?? name,
    bars: true,
    values: rows.map(({ outcomes }) => outcomes[name] ?? 0),
    plotted: edges[i],
  }));
}
