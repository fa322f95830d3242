// A run writes text for a person, on the terminal and in a file, and JSON for programs.
// lab/run makes the page of it.
import { settings } from "./settings.js";

const ROWS = [
  ["join_ms", "준비 완료 answered", "ms"],
  ["handoff_ms", "release → next holder's frame", "ms"],
  ["first_frame_ms", "socket opened → first state", "ms"],
  ["back_ms", "socket lost → state again", "ms"],
  ["code_ms", "carrier → code on the page", "ms"],
];
const COUNTS = [
  ["joined", "tickets given"],
  ["over", "places over"],
  ["handoffs", "handoffs"],
  ["sockets_opened", "sockets opened"],
  ["frames", "frames"],
  ["retries", "requests repeated"],
  ["two_holders", "two holders at once"],
  ["overtaken", "overtaken"],
  ["lost_places", "places lost"],
  ["desk_checked", "places compared with the desk"],
  ["desk_wrong", "of them the desk showed otherwise"],
];

const pad = (text, width) => String(text).padEnd(width);
const left = (text, width) => String(text).padStart(width);

/** failed lists the thresholds that did not hold. */
function failed(metrics) {
  return Object.entries(metrics).flatMap(([name, m]) =>
    Object.entries(m.thresholds ?? {}).filter(([, t]) => !t.ok).map(([rule]) => `${name} ${rule}`));
}

function failedChecks(group) {
  return group.checks.filter((c) => c.fails > 0).concat(...group.groups.map(failedChecks));
}

function text(name, data) {
  const lines = [
    `waitroom ${name}: ${settings.base}, ${(data.state.testRunDurationMs / 1000).toFixed(1)} s`,
    "",
  ];
  lines.push(pad("", 32) + ["count", "median", "p95", "p99", "max"].map((h) => left(h, 9)).join(""));
  for (const [metric, label] of ROWS) {
    const v = data.metrics[metric]?.values;
    if (!v || v.count === 0) continue;
    lines.push(
      pad(label, 32) +
        [v.count, v.med, v["p(95)"], v["p(99)"], v.max].map((n) => left(Math.round(n), 9)).join("") +
        "  ms",
    );
  }
  lines.push("");
  for (const [metric, label] of COUNTS) {
    const v = data.metrics[metric]?.values;
    if (v) lines.push(`${pad(label, 36)}${left(v.count, 9)}${left(v.rate.toFixed(1), 9)}/s`);
  }
  const checks = data.metrics.checks?.values;
  if (checks)
    lines.push(`${pad("checks", 36)}${left(checks.passes + checks.fails, 9)}${left(checks.fails, 9)} failed`);
  lines.push("");
  for (const c of failedChecks(data.root_group))
    lines.push(`  check failed: ${c.name} (${c.fails} of ${c.passes + c.fails})`);
  const broken = failed(data.metrics);
  for (const rule of broken) lines.push(`  THRESHOLD FAILED: ${rule}`);
  lines.push(broken.length === 0 ? "all thresholds held" : `${broken.length} thresholds failed`, "");
  return lines.join("\n");
}

/** summary returns a scenario's handleSummary. */
export function summary(name) {
  return (data) => {
    const words = text(name, data);
    return {
      stdout: `\n${words}`,
      [`${settings.results}/summary.txt`]: words,
      [`${settings.results}/summary.json`]: JSON.stringify(
        Object.assign({ scenario: name, base: settings.base }, data),
        null,
        1,
      ),
    };
  };
}
