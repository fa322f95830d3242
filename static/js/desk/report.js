// The report of a room: plots beside the table that the page has. Without this script there is the table.
import { byID } from "../dom.js";
import { Chart } from "./chart.js";
import { COUNTS, percentiles, stack, TIMES } from "./charts.js";
import { OUTCOMES } from "./minutes.js";
import "./pages.js";
import { short } from "./time.js";

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

function draw({ words, days }) {
  const rows = days.map((day) => ({
    ...day,
    delay_p50: day.code_delay_p50,
    delay_p95: day.code_delay_p95,
    outcomes: Object.fromEntries(OUTCOMES.map((name) => [name, day[name] ?? 0])),
  }));
  const at = days.map(({ day }) => midnight(day));
  const dates = { words, time: monthAndDay, timeSteps: DAYS, edge: 43200, dated: true };
  const times = { ...dates, format: (ms) => short(words, ms), steps: TIMES };
  const counts = { ...dates, format: (n) => n.toLocaleString(), steps: COUNTS };
  const plots = {
    outcomes: [counts, stack(words, rows)],
    waits: [times, percentiles(words, rows, "wait")],
    delays: [times, percentiles(words, rows, "delay")],
  };
  byID("charts").hidden = false;
  for (const [name, [look, series]] of Object.entries(plots)) {
    new Chart({ name, ...look }).draw({ at, series });
  }
}

const data = document.getElementById("page-data"); // none beside an error
if (data) draw(JSON.parse(data.textContent));
