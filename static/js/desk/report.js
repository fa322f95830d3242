// The report of a room: plots beside the table that the page has. Without this script there is the table.
import { byID } from "../dom.js";
import { Chart } from "./chart.js";
import { COUNTS, percentiles, stack, TIMES } from "./charts.js";
import { OUTCOMES } from "./minutes.js";
import "./pages.js";
import { hourAndMinute, short } from "./time.js";

const HOURS = [1, 2, 3, 6, 12].map((hours) => hours * 3600);
const DAYS = [1, 2, 7, 14, 28, 56, 112, 224].map((days) => days * 86400);

/** Returns the midnight of a day in the reader's zone: the axis has dates and no times. */
function midnight(day) {
  const [y, m, d] = day.split("-").map(Number);
  return new Date(y, m - 1, d).getTime();
}

function monthAndDay(ms) {
  const at = new Date(ms + 43200000); // a step of a day is 24 hours, also where clocks changed
  return `${at.getMonth() + 1}/${at.getDate()}`;
}

/** Returns where the last numbers of lines are; null without any. */
function newest(series) {
  return at(series, (values) => values.map((value) => value != null).lastIndexOf(true));
}

/** Returns where the last line is highest. */
function highest(series) {
  return at(series, (values) => values.indexOf(Math.max(...values.filter((value) => value != null))));
}

function at(series, find) {
  const index = find(series[series.length - 1].values);
  return index < 0 ? null : index;
}

function plots({ words, look, rows, at, names: [outcomes, waits, delays], shown }) {
  const all = rows.map((row) => ({
    ...row,
    delay_p50: row.code_delay_p50,
    delay_p95: row.code_delay_p95,
    outcomes: Object.fromEntries(OUTCOMES.map((name) => [name, row[name] ?? 0])),
  }));
  const counts = { words, ...look, format: (n) => n.toLocaleString(), steps: COUNTS };
  const times = { words, ...look, format: (ms) => short(words, ms), steps: TIMES, shown };
  new Chart({ name: outcomes, ...counts }).draw({ at, series: stack(words, all) });
  new Chart({ name: waits, ...times }).draw({ at, series: percentiles(words, all, "wait") });
  if (delays) new Chart({ name: delays, ...times }).draw({ at, series: percentiles(words, all, "delay") });
}

function draw({ words, days, hours, hour }) {
  byID("charts").hidden = false;
  plots({
    words,
    look: { time: monthAndDay, timeSteps: DAYS, edge: 43200 },
    rows: days,
    at: days.map(({ day }) => midnight(day)),
    names: ["outcomes", "waits", "delays"],
    shown: newest,
  });
  if (!hours?.length) return;
  byID("hour-charts").hidden = false;
  plots({
    words: { ...words, minute: hour },
    look: { time: hourAndMinute, timeSteps: HOURS, edge: 1800 },
    rows: hours,
    at: hours.map((row) => new Date(2001, 0, 1, row.hour).getTime()), // no clock changes on that day
    names: ["hour-outcomes", "hour-waits"],
    shown: highest,
  });
}

const data = document.getElementById("page-data"); // none beside an error
if (data) draw(JSON.parse(data.textContent));
