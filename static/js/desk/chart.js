import uPlot from "../../thirdparty/uplot/uPlot.esm.js";
import { byID, make, put } from "../dom.js";
import { hourAndMinute } from "./time.js";

/** A figure: the plot, and the same numbers as a table. */
export class Chart {
  #plot = null;
  // {at: [ms], series: [{name, words, color, values, plotted, bars}]}, series in the order of the list
  #data = null;
  #shape = "";

  /**
   * format(value) returns a value in words; steps are the allowed steps of an axis. time(ms) returns a time in
   * words, and timeSteps are the allowed steps of its axis, in seconds; by default, minutes. edge is the room
   * before the first time and after the last one, in seconds. shown(series) returns which numbers stand beside
   * the title with their time while the pointer is elsewhere; null: a line's newest and a bar's sum.
   */
  constructor({ name, words, format, steps, time = hourAndMinute, timeSteps, edge = 0, shown = () => null }) {
    Object.assign(this, { words, format, steps, time, timeSteps, edge, shown });
    this.figure = byID(`chart-${name}`);
    this.place = this.figure.querySelector(".chart-plot");
    this.table = this.figure.querySelector(".chart-table");
    this.title = words.charts[name].title;
    this.now = this.figure.querySelector(".chart-now");
    this.toggle = this.figure.querySelector(".chart-toggle");
    this.toggle.addEventListener("click", () => this.#turn());
    new ResizeObserver(() => this.#resize()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#anew());
  }

  draw(data) {
    this.#data = data;
    this.#showValues(null);
    if (this.table.hidden) this.#drawPlot();
    else this.#drawTable();
  }

  #turn() {
    const table = this.table.hidden;
    this.table.hidden = !table;
    this.place.hidden = table;
    const other = table ? this.words.plot : this.words.table;
    put(this.toggle, other);
    this.toggle.setAttribute("aria-label", `${this.title} – ${other}`);
    if (this.#data) this.draw(this.#data);
  }

  #drawPlot() {
    const { at, series } = this.#data;
    const data = [at.map((ms) => ms / 1000), ...this.#drawn.map(({ plotted, values }) => plotted ?? values)];
    const shape = series.map(({ name }) => name).join();
    if (!this.#plot || shape !== this.#shape) this.#make(shape, data);
    else this.#plot.setData(data);
  }

  /** The last of the list is drawn first: a stack's higher edges lie behind its lower ones. */
  get #drawn() {
    return [...this.#data.series].reverse();
  }

  #make(shape, data) {
    this.#plot?.destroy();
    this.#shape = shape;
    const { clientWidth: width, clientHeight: height } = this.place;
    this.#plot = width > 0 ? new uPlot(this.#options(width, height), data, this.place) : null;
  }

  #anew() {
    if (this.#data && this.table.hidden) this.#make(this.#shape, this.#plot?.data ?? [[]]);
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0) return;
    if (this.#plot) this.#plot.setSize({ width, height });
    else if (this.#data) this.#drawPlot();
  }

  #options(width, height) {
    const color = (name) => getComputedStyle(this.figure).getPropertyValue(name).trim();
    const axis = { stroke: color("--ink-soft"), font: "11px system-ui, sans-serif", ticks: { show: false } };
    const grid = { stroke: color("--line"), width: 1 };
    return {
      width,
      height,
      padding: [6, 16, 0, 0], // half of the axis's last label stands beyond the plot
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false }, points: { size: 5 } },
      scales: {
        ...(this.edge && { x: { range: (_, min, max) => [min - this.edge, max + this.edge] } }),
        y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] },
      },
      axes: [
        {
          ...axis,
          size: 23,
          gap: 5, // the other axis's 0 stands below the plot by half
          space: 44,
          grid: { show: false },
          filter: within,
          ...(this.timeSteps && { incrs: this.timeSteps }),
          values: (_, times) => times.map((s) => (s == null ? "" : this.time(s * 1000))),
        },
        {
          ...axis,
          size: 44,
          gap: 4,
          space: 24,
          grid,
          incrs: this.steps,
          values: (_, values) => values.map((value) => (value === 0 ? "0" : this.format(value))),
        },
      ],
      series: [{}, ...this.#drawn.map((one) => this.#series(one, color))],
      hooks: { setCursor: [({ cursor: { idx } }) => this.#data && this.#showValues(idx)] },
    };
  }

  #series({ color: name, bars }, color) {
    const stroke = color(name);
    const look = bars
      ? { fill: stroke, width: 0, paths: uPlot.paths.bars({ size: [0.8, 24] }) }
      : { width: 1.5, stroke };
    return { points: { show: false }, spanGaps: false, ...look };
  }

  /** Shows the numbers of the minute under the pointer; by default a line's newest and a bar's sum. */
  #showValues(pointed) {
    const { at, series } = this.#data;
    const index = pointed ?? this.shown(series);
    const parts = series.map((one) => ({ ...one, value: index == null ? newest(one) : one.values[index] }));
    const shown = parts
      .filter(({ value }) => value != null)
      .map((part) => this.#value(part, series.length > 1));
    const time = index == null ? "" : make("span", {}, this.time(at[index]));
    const none = [make("span", {}, this.words.no_data)];
    this.now.replaceChildren(...(shown.length > 0 ? [time, ...shown] : none));
  }

  #value({ color, words, value }, named) {
    const name = named ? [make("i", { class: `key ${color.slice(2)}` }), `${words} `] : [];
    return make("span", { class: "chart-value" }, ...name, make("b", {}, this.format(value)));
  }

  /** The newest minute is on top. */
  #drawTable() {
    const { at, series } = this.#data;
    const head = make(
      "tr",
      {},
      make("th", { scope: "col" }, this.words.minute),
      ...series.map(({ words }) => make("th", { scope: "col", class: "num" }, words)),
    );
    const rows = at.map((ms, i) =>
      make("tr", {},
        make("th", { scope: "row" }, this.time(ms)),
        ...series.map(({ values }) =>
          make("td", { class: "num" }, values[i] == null ? "–" : this.format(values[i])),
        ),
      ),
    );
    const { scrollTop } = this.table;
    this.table.replaceChildren(
      make("table", { class: "desk-table" }, make("thead", {}, head), make("tbody", {}, ...rows.reverse())),
    );
    this.table.scrollTop = scrollTop;
  }
}

/** Returns the times inside the plot: other labels would stand cut off at its edge. */
function within({ scales: { x } }, times) {
  return times.map((s) => (s >= x.min && s <= x.max ? s : null));
}

function newest({ values, bars }) {
  if (bars) return values.reduce((sum, value) => sum + value, 0);
  return [...values].reverse().find((value) => value != null);
}
