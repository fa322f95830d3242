import "../countdown.js";
import { byID, put } from "../dom.js";
import { ActDialog } from "./act.js";
import { Api } from "./api.js";
import { Attention } from "./attention.js";
import { find } from "./find.js";
import { HolderCard } from "./holder.js";
import { ItemsPanel } from "./items.js";
import { Keyed } from "./keyed.js";
import { Keys } from "./keys.js";
import { LinePanel } from "./line.js";
import { Live } from "./live.js";
import { DeskModel } from "./model.js";
import { Note } from "./note.js";
import { drawPausedBy } from "./pause.js";
import { drawReplicas } from "./replicas.js";
import { RoomVerbs } from "./room_verbs.js";
import { drawSources } from "./sources.js";
import { drawStanding } from "./standing.js";
import { Trouble } from "./trouble.js";
import { Verbs } from "./verbs.js";
import { Wording } from "./wording.js";

const page = JSON.parse(byID("page-data").textContent);
const { room, words } = page;
const model = new DeskModel();
const items = new Keyed();
const minutes = new Keyed();
const sources = new Keyed();
const pauses = new Keyed();

const live = new Live({
  path: `/api/support/${encodeURIComponent(room)}/ws`,
  first: "desk",
  words,
  onFrame: receive,
});
const { server } = live;
const api = new Api(page);
const wording = new Wording({ words, incidents: page.incidents });
const dialog = new ActDialog({ words, api, wording, stale: () => live.stale });
const notes = {
  holder: new Note(byID("holder-note")),
  line: new Note(byID("line-note")),
  room: new Note(byID("room-note")),
};
const verbs = new Verbs({
  words, model, items, server, dialog, api, notes,
  unit: byID("act-choices").dataset.unit,
  mark: (ticket, words) => line.mark(ticket, words),
  result: (item, words) => messages.showResult(item, words),
});
const roomVerbs = new RoomVerbs({
  words, model, server, dialog, api,
  note: notes.room,
  hours: page.hours,
});
const holder = new HolderCard({ words, model, server, room, lease: page.lease_seconds * 1000 });
const line = new LinePanel({ words, model, server, room, verbs: page.may_act ? rowVerbs() : null });
const assign = page.may_act ? (item, lease, back) => verbs.assign(item, lease, back) : null;
const messages = new ItemsPanel({ words, items, server, room, assign });
const attention = new Attention({ words });
const announce = page.may_act ? (asked) => roomVerbs.announce(asked) : null;
const trouble = new Trouble({ words, model, items, minutes, sources, server, attention, announce });
const keys = new Keys();
let charts = null;
let drawing = false;

function rowVerbs() {
  return { move: (row, back) => verbs.move(row, back), remove: (row, back) => verbs.remove(row, back) };
}

function receive(frame) {
  if (frame.type === "desk") pauses.apply({ reset: true }); // the pauses follow in frames of their own
  if (frame.type === "desk" || frame.type === "change") take(frame);
  if (frame.type === "items") show(items, frame, () => messages.draw());
  if (frame.type === "minutes") show(minutes, frame, drawCharts);
  if (frame.type === "sources") {
    sources.apply(frame);
    drawSources(words, sources.all);
    trouble.draw();
  }
  if (frame.type === "pause") {
    pauses.apply(frame);
    drawPause();
  }
  if (frame.type === "replicas") {
    trouble.replicas = frame.list;
    drawReplicas(words, frame.list);
    trouble.draw();
  }
}

/** A change that does not fit makes the page reconnect for a full frame. */
function take(frame) {
  const taken = model.apply(frame);
  if (taken === "gap") live.socket.again();
  if (taken === "changed") draw();
}

function show(list, frame, drawn) {
  list.apply(frame);
  drawn();
  trouble.draw();
  dialog.check();
}

/** However many changes come, a picture is drawn once. */
function draw() {
  if (document.hidden) trouble.draw(); // a hidden page draws nothing
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    holder.draw();
    line.draw();
    trouble.draw();
    drawPause();
    drawHours();
    dialog.check();
  });
}

function drawPause() {
  document.body.dataset.paused = String(model.paused);
  drawPausedBy(words, model.paused, pauses.all, server.now());
  const button = byID("pause");
  if (!button) return;
  button.disabled = false;
  put(button, model.paused ? words.resume : words.pause);
}

/** Also time alone opens and closes a room, and ends an announcement. */
function drawHours() {
  if (model.version < 0) return;
  drawStanding(words, page.lang, model, server.now());
  const button = byID("hours");
  if (!button) return;
  button.disabled = false;
  put(button, words.act[model.closed ? "open" : "close"].yes);
}

function drawCharts() {
  if (model.version >= 0) charts?.draw(minutes.all, server.now(), model.line.length);
}

function undo() {
  return notes.line.undo() || notes.holder.undo() || notes.room.undo();
}

byID("extend")?.addEventListener("click", () => verbs.extend(() => holder.focus("extend")));
byID("release")?.addEventListener("click", () => verbs.release(() => holder.focus("release")));
byID("pause")?.addEventListener("click", () => roomVerbs.pause());
byID("hours")?.addEventListener("click", () => roomVerbs.openOrClose());
byID("announce")?.addEventListener("click", () => roomVerbs.announce());
byID("announced-back")?.addEventListener("click", () => roomVerbs.takeBack(() => byID("announce").focus()));
keys.on("/", find);
keys.on("f", () => line.search.focus());
keys.on("j", () => line.grid.move(1));
keys.on("k", () => line.grid.move(-1));
keys.on("Enter", () => line.grid.open());
keys.on("u", undo);

live.onTick(() => {
  line.grid.redraw();
  messages.draw();
  trouble.draw();
  drawHours();
  drawCharts();
});
live.start();

import("./charts.js").then(({ Charts }) => {
  charts = new Charts(words);
  drawCharts();
});
