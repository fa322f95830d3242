import { byID } from "../dom.js";
import { Attention } from "./attention.js";
import { find } from "./find.js";
import { Keyed } from "./keyed.js";
import { Keys } from "./keys.js";
import { Live } from "./live.js";
import { RoomNames } from "./names.js";
import { lineOfReplicas } from "./replicas.js";
import { RoomsTable } from "./rooms_table.js";

const { words, names } = JSON.parse(byID("page-data").textContent);
const rooms = new Keyed("room");
const live = new Live({ path: "/api/support/ws", first: "rooms", words, onFrame: receive });
const table = new RoomsTable({ words, rooms, names: new RoomNames(names ?? []), server: live.server });
const attention = new Attention({ words });
const keys = new Keys();
let drawing = false;

function receive(frame) {
  if (frame.type === "rooms") {
    rooms.apply(frame);
    attention.see(troubles());
    draw();
  }
  if (frame.type === "replicas") lineOfReplicas(words, frame.list);
}

/** Returns the troubles of all rooms, each with its room. */
function troubles() {
  return rooms.all.flatMap(({ room, trouble }) => trouble.map((kind) => ({
    key: `${room} ${kind}`,
    kind,
    words: `${table.names.of(room).name || room}: ${words.troubles[kind] ?? kind}`,
  })));
}

/** However many frames come, a picture is drawn once. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    table.draw();
  });
}

keys.on("/", find);
keys.on("f", () => table.search.focus());
keys.on("j", () => table.grid.move(1));
keys.on("k", () => table.grid.move(-1));
keys.on("Enter", () => table.grid.open());
live.onTick(() => table.tick());
live.start();
