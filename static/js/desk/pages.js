// The quiet pages of support: times in the reader's zone, the link to a page, and days
// as its reader counts them.
import { copied } from "../copy.js";
import { find } from "./find.js";
import { isFree, keysAreOn } from "./keys.js";
import { endOf, startOf, stamp, typed, zone } from "./times.js";

const all = (selector) => document.querySelectorAll(selector);

function localTimes() {
  for (const time of all("time[data-at]")) {
    const { at, after, format } = time.dataset;
    time.textContent = stamp(Number(at), Number(after ?? 0), format);
    time.title = stamp(Number(at), 0, "full");
  }
  for (const mark of all(".utc")) mark.hidden = true;
  for (const element of all("[data-zone]"))
    element.textContent = element.dataset.zone.replace("{zone}", zone());
}

/** A file for spreadsheets has its times in the reader's zone. */
function exports() {
  for (const link of all("a[download][href*='bom=1']")) link.href += `&zone=${encodeURIComponent(zone())}`;
}

function copyLink() {
  const button = document.getElementById("copy-link");
  if (!button) return;
  const words = button.textContent;
  const status = document.getElementById("copy-said");
  let back;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const done = await copied(location.href);
    const now = done ? button.dataset.copied : button.dataset.failed;
    button.textContent = status.textContent = now;
    clearTimeout(back);
    back = setTimeout(() => {
      button.textContent = words;
      status.textContent = "";
    }, 4000);
  });
}

// A day is the reader's own: the form sends the instants at which it begins and ends.
function days() {
  const form = document.getElementById("filter");
  const fields = form?.querySelectorAll("[data-date]") ?? [];
  if (fields.length === 0) return;
  const hint = document.getElementById("time-hint");
  hint.textContent = hint.dataset.local.replace("{zone}", zone());
  for (const field of fields) field.value = typed(field.value, field.dataset.date);
  for (const element of all("[data-typed]"))
    element.textContent = typed(element.textContent, element.dataset.typed);
  form.addEventListener("formdata", ({ formData }) => {
    for (const field of fields) {
      const text = field.value.trim();
      formData.set(field.name, field.dataset.date === "start" ? startOf(text) : endOf(text));
    }
  });
  presets(form);
}

function period(preset) {
  const day = (back) => {
    const at = new Date();
    return stamp(at.setDate(at.getDate() - back), 0, "date");
  };
  switch (preset) {
    case "hour":
      return [new Date(Date.now() - 3_600_000).toISOString(), ""];
    case "yesterday":
      return [day(1), day(1)];
    case "week":
      return [day(6), ""];
    default:
      return [day(0), ""];
  }
}

// A history without a query in its address shows today.
function today() {
  const query = new URLSearchParams(location.search);
  if (!document.querySelector("main.history") || [...query.keys()].some((key) => key !== "lang")) return;
  query.set("from", startOf(period("today")[0]));
  location.replace(`?${query}`);
}

function presets(form) {
  const group = form.querySelector(".presets");
  group.hidden = false;
  group.addEventListener("click", ({ target }) => {
    const preset = target.closest("[data-preset]")?.dataset.preset;
    if (!preset) return;
    const [from, to] = period(preset);
    form.elements.from.value = from;
    form.elements.to.value = to;
    if (form.requestSubmit) form.requestSubmit(); // eslint-disable-line no-restricted-syntax
    else form.submit(); // iOS before 16
  });
}

function keys() {
  if (!document.getElementById("find")) return; // no agent is signed in
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || !keysAreOn() || !isFree(event)) return;
    event.preventDefault();
    find();
  });
}

localTimes();
keys();
copyLink();
exports();
today();
days();
