import { Chart } from "./chart.js";
import { lastHour, outcomesOf, stacked } from "./minutes.js";
import { short } from "./time.js";

const COUNTS = [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TIMES = [
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
    this.depth.draw({ at, series: [this.#line(hour, "depth", "--chart-1")] });
    this.waits.draw({ at, series: this.#percentiles(hour, "wait") });
    this.delays.draw({ at, series: this.#percentiles(hour, "delay") });
    this.outcomes.draw({ at, series: this.#stack(hour) });
  }

  #percentiles(hour, what) {
    return [this.#line(hour, `${what}_p50`, "--chart-1"), this.#line(hour, `${what}_p95`, "--chart-2")];
  }

  #line(hour, name, color) {
    return { name, color, words: this.words.series[name], values: hour.map((minute) => minute[name]) };
  }

  #stack(hour) {
    const names = outcomesOf(hour);
    const edges = stacked(hour, names);
    return names.map((name, i) => ({
      name,
      color: `--end-${name}`,
      words: this.words.outcomes[name] ?? name,
      bars: true,
      values: hour.map(({ outcomes }) => outcomes[name] ?? 0),
      plotted: edges[i],
    }));
  }
}
