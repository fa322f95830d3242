import { Actions, Refused } from "./actions.js";
import { TurnAlert, offerAlerts } from "./alert.js";
import { ServerClock } from "./clock.js";
import "./countdown.js";
import { Journey } from "./journey.js";
import { LeaveQuestion } from "./leave.js";
import "./sms.js";
import { RoomSocket } from "./socket.js";
import { Speaker } from "./speak.js";
import { Store } from "./store.js";
import { Narrator } from "./narrator.js";
import { View } from "./view.js";
import { whenBack } from "./wake.js";

const page = JSON.parse(document.getElementById("page-data").textContent);
const { room, words } = page;

const server = new ServerClock();
server.observe(page.state.server_time);
const store = new Store(page.state);
const messages = document.getElementById("sms");
const journey = new Journey(room, page.state, page.joined);
messages.start(words, page.sms, journey.pastUntil(page.state));
const view = new View({ words, leaseSeconds: page.lease_seconds, journey, server, messages });
const alert = new TurnAlert({ words, icons: page.icons, room });
const narrator = new Narrator({ words, view, alert, server, speaker: new Speaker() });
const actions = new Actions({ room, lang: page.lang, words });
const question = new LeaveQuestion(() => act("leave-confirm", () => actions.leave("cancelled", store.state.fence)));

let busy = false;
let pressed = false; // whether the newest change is the answer to my own press

store.onChange((state, before) => {
  const changed = state.status !== before.status;
  if (changed) question.close();
  if (state.ticket != null && before.ticket !== state.ticket) journey.past(state, messages.forget());
  view.draw(state);
  if (changed) {
    view.error("");
    view.focus();
  }
  narrator.tell(state, before, pressed);
});

const socket = new RoomSocket({
  url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/${encodeURIComponent(room)}/ws`,
  onFrame: receive,
  onStatus: (status) => view.connection(status),
});

function receive(frame) {
  if (frame.server_time) server.observe(frame.server_time);
  view.heard();
  if (frame.type === "state") store.apply(frame);
  if (frame.type === "sms" && messages.add(frame)) {
    view.draw(store.state);
    narrator.message(messages.code);
  }
}

/** Does what a press asks for, once at a time, and shows what comes of it. */
async function act(id, call) {
  if (busy) return;
  busy = pressed = true;
  document.getElementById(id).setAttribute("aria-busy", "true");
  view.error("");
  try {
    store.applyAnswer(await call(), server.now());
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await settle(error);
  } finally {
    busy = pressed = false;
    document.getElementById(id).removeAttribute("aria-busy");
  }
}

/** A place that is gone already is no error to whoever wanted to leave it. */
async function settle(error) {
  if (error.code !== "no_place" && error.code !== "stale_fence") return view.error(error.message);
  try {
    store.applyStatus(await actions.status());
  } catch {
    view.error(error.message);
  }
}

document.getElementById("join-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = document.getElementById("seller-id");
  const seller = field.value.trim().normalize("NFC");
  if (seller === "") {
    view.error(words.no_seller);
    field.focus();
    return;
  }
  act("join", () => actions.join(seller));
});

document.getElementById("done-form").addEventListener("submit", (event) => {
  event.preventDefault();
  journey.finish(store.state, messages.count);
  act("done", () => actions.leave("completed", store.state.fence));
});

document.getElementById("countdown").addEventListener("wr-tick", (event) => narrator.tick(event.detail));

document.getElementById("join-form").noValidate = true;
offerAlerts(alert);
view.draw(store.state);
narrator.begin(store.state);
socket.start();
whenBack({ back: () => socket.renew(), away: () => socket.rest() });
