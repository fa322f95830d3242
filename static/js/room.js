import { WaitingRoom } from "../embed.js";
import { TurnAlert, offerAlerts } from "./alert.js";
import { Asking } from "./asking.js";
import { Awake } from "./awake.js";
import { Claiming } from "./claiming.js";
import { copy } from "./copy.js";
import "./countdown.js";
import { byID, put } from "./dom.js";
import { hasCookies } from "./frame.js";
import { Refused, wordsOf } from "./http.js";
import { Journey } from "./journey.js";
import { keepLanguage } from "./language.js";
import { DeviceLink } from "./link.js";
import { MarketChoice, MarketTab } from "./market.js";
import { SupportNotice } from "./notice.js";
import { Notifier } from "./notify.js";
import { PassedOver } from "./passedover.js";
import { Press } from "./press.js";
import { Question } from "./question.js";
import { Reach } from "./reach.js";
import { unmasked } from "./session.js";
import "./sms.js";
import { Speaker } from "./speak.js";
import { Narrator } from "./narrator.js";
import { Unclaimed } from "./unclaimed.js";
import { View } from "./view.js";
import { whenBack } from "./wake.js";

const block = document.getElementById("page-data");
const page = JSON.parse(block.textContent);
const { room, words } = page;
if (page.plain) {
  // an earlier press came before the script: the page need not refresh itself any more
  document.cookie = `waitroom_plain=; Path=${page.plain}; Max-Age=0`;
  if (!document.cookie.includes("waitroom_plain=")) location.reload();
}
// the page forgets messages in time too, and a saved copy of it has no session
block.textContent = JSON.stringify({ ...page, sms: [], session: "" });

const waitingRoom = WaitingRoom.connect({
  room,
  language: page.lang,
  words,
  state: page.state,
  session: hasCookies() ? "cookie" : "own",
  known: unmasked(page.session),
  seller: page.seller,
});
const { clock: server, store, actions } = waitingRoom;
const messages = document.getElementById("sms");
const journey = new Journey(room, page.state, page.joined);
const past = journey.pastUntil(page.state);
if (page.rejected) journey.reject(page.state);
messages.start({ words, server, messages: page.sms, past, onForget: forget });
const notice = new SupportNotice({ words: words.notices, messages });
const unclaimed = new Unclaimed({ words, server, journey, onYes: own });
const onStep = (step, before) => {
  if (step === "over" && unasked()) view.focus();
  else view.keepFocus();
  narrator.step(step, before);
};
const {
  lease_seconds: leaseSeconds,
  claim_seconds: claimSeconds,
  away_seconds: awaySeconds,
  drop_seconds: dropSeconds,
} = page;
const view = new View({
  words,
  leaseSeconds,
  claimSeconds,
  dropSeconds,
  history: { spread: page.spread, hold: page.hold ?? 0, holds: page.holds ?? 0 },
  journey,
  server,
  messages,
  unclaimed,
  onStep,
  onLost: (notice) => narrator.lost(notice),
});
const subscribe = (subscription) => actions.push(subscription, page.lang);
const notifier = new Notifier({ room, icon: page.icons.turn, key: page.push_key, subscribe });
const alert = new TurnAlert({ words, icons: page.icons, notifier });
const claiming = new Claiming({ actions, store, server, onRefused: () => narrator.claim() });
const speaker = new Speaker();
const narrator = new Narrator({ words, view, alert, server, claiming, speaker });
const link = new DeviceLink({ actions, server, words });
const market = new MarketChoice(page.markets, room);
const asking = new Asking({ actions, store, journey, server, filter: () => market.filter() });
const passedOver = new PassedOver({ server, leaseSeconds, awaySeconds });
const awake = new Awake((on) => put(byID("screen-state"), on ? words.turned_on : words.turned_off));
const questions = [
  new Question("leave", ["leave", "cancel"], speaker, leave),
  new Question("done", [], speaker, finish),
  new Question("reject", ["sms-reject"], speaker, reject),
];
const [, notYet] = questions;

/** Closes the questions, and returns whether one was open: the news then has the focus at once. */
function unasked() {
  return questions.filter((question) => question.close()).length > 0;
}

const press = new Press({ words, settle, showText: (text) => view.error(text) });
new Reach({ actions, words, act });

let last = store.state.ticket; // of the place whose messages are here: they stay until the next place
store.onChange((state, before) => {
  const changed = state.status !== before.status;
  if (changed) unasked();
  if (state.epoch == null) last = 0; // another seller's page from now on
  if (state.ticket != null && state.ticket !== last) {
    if (last != null) journey.past(state, messages.forget());
    last = state.ticket;
  }
  view.draw(state);
  notice.check(state);
  link.check(state);
  if (changed) {
    view.error("");
    view.focus();
  } else view.keepFocus();
  narrator.announce(state, before, press.sending);
  press.check();
  attend(state);
});

/** Does what a waiting or holding seller needs without a press. */
function attend(state) {
  const live = state.status === "waiting" || state.status === "locked";
  awake.want(live);
  notifier.follow(live ? state.ticket : null);
  claiming.check();
  asking.putOff();
}

let stale = false; // whether the server itself gets no news of the room
let connected = "connecting";

waitingRoom.on("frame", receive);
waitingRoom.on("polled", polled);
const REPLACED = 4502; // another seller has this browser's cookie now

waitingRoom.on("connection", (status, code) => {
  if (status !== "open") stale = false; // a reconnecting socket was not refused for it
  connected = status === "closed" && code === REPLACED && page.seller ? "replaced" : status;
  if (status === "lost" || status === "closed") passedOver.gone(store.state);
  show();
});

/** A poll was answered, where no socket comes through. */
function polled() {
  view.heard();
  if (passedOver.back(store.state)) notice.hear({ notice: "passed_over" }, store.state);
  passedOver.heard();
}

function show() {
  const status = stale && connected === "open" ? "stale" : connected;
  view.connection(status);
  press.connection(status === "open" || status === "polling");
}

function receive(frame) {
  if (frame.type === "ping") freshen(frame);
  if (!stale) view.heard();
  if (frame.type === "state" && passedOver.back(store.state))
    notice.hear({ notice: "passed_over" }, store.state);
  passedOver.heard();
  if (frame.type === "sms") receiveMessage(frame);
  if (frame.type === "sms_unclaimed" && unclaimed.hear(frame)) narrator.unclaimed();
  if (frame.type === "notice") notice.hear(frame, store.state);
  if (frame.notice === "joined_device") link.joined();
}

/** A ping carries since when the server has had no news of the room: the shown state is that old. */
function freshen({ server_time, as_of }) {
  stale = as_of != null;
  if (stale) view.heard(new Date(Date.now() - (server_time - as_of)));
  show();
}

function receiveMessage(frame) {
  const added = messages.add(frame);
  if (!added) return;
  unclaimed.drop(added.id);
  // a new code is seen and heard at once: no question is over it
  const news = added.code && messages.main?.id === added.id && unasked();
  view.draw(store.state);
  if (news) view.focus();
  notice.message(added.id);
  notice.check(store.state);
  narrator.message(added, store.state.status);
}

/** Removes a message from the page and from the voice. */
function forget() {
  narrator.forget();
  view.draw(store.state);
  notice.check(store.state);
}

/** Sends a press's call, and shows its result. */
function act(id, call, { take = (answer) => store.applyAnswer(answer, server.now()), wanted } = {}) {
  return press.act(id, call, take, wanted);
}

/** Returns whether a place, or a turn, is the same as at the press. */
function same({ epoch, ticket, fence }) {
  const now = store.state;
  const live = now.status === "waiting" || now.status === "locked";
  return (
    live &&
    String(now.epoch) === String(epoch) &&
    now.ticket === ticket &&
    (fence == null || now.fence === fence)
  );
}

/** A place that is gone already is no error to a seller who wanted to leave it. */
async function settle(error) {
  if (error.code === "number_busy" && error.problem.ask_after) return asking.refused(error);
  if (error.code !== "no_place" && error.code !== "stale_fence")
    return view.error(wordsOf(error, words), error.code === "invalid_seller");
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
    press.forget();
    view.error(words.no_seller, true);
    field.focus();
    return;
  }
  act("join", () => actions.join(seller).catch(refuseJoin));
});

function refuseJoin(error) {
  if (error.code === "unreachable") error.message = words.unreachable_join;
  throw error;
}

for (const [form, button] of [["claim-form", "claim"], ["back-form", "back"]]) {
  byID(form).addEventListener("submit", (event) => {
    event.preventDefault();
    const { state } = store;
    act(button, () => actions.claim(state.fence), {
      wanted: () => same(state) && (state.fence == null || store.state.claim_by != null),
    });
  });
}

document.getElementById("done-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (view.turn.early) notYet.ask();
  else finish();
});

function finish() {
  if (press.taken("done")) return;
  journey.finish(store.state, messages.main?.id ?? "");
  end("done", "completed");
}

byID("entered-form").addEventListener("submit", (event) => {
  event.preventDefault();
  journey.finish(store.state, messages.main?.id ?? "");
  view.draw(store.state);
  view.focus();
});

function leave() {
  end(store.state.status === "locked" ? "cancel" : "leave", "cancelled");
}

/** Gives the place back. A seller who pressed leave in line and has the turn by now still leaves. */
function end(id, reason) {
  const { state } = store;
  act(id, (signal) => actions.leave(reason, state.fence, signal), { wanted: () => same(state) });
}

for (const id of ["ask", "ask-again"])
  byID(id).addEventListener("click", () => (byID("ask-form").dataset.pressed = id));

document.getElementById("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(event.currentTarget.dataset.pressed ?? "ask"); // iOS before 15.4 does not report the pressed button
});

/** Opens the marketplace only once the ask counts: a code asked for before may look like another seller's. */
function ask(id) {
  if (press.taken(id)) return;
  const { opens } = byID(id).dataset;
  const tab = opens ? new MarketTab(words.market_opening) : null;
  const refuse = (error) => {
    tab?.close();
    refuseAsk(error);
  };
  act(id, () => asking.ask().catch(refuse), { take: (answer) => {
    journey.ask(store.state, messages.main?.id ?? "");
    const mine = store.applyExpectation(answer) && view.turn.step !== "over";
    view.focus();
    if (!mine) tab?.close();
    else if (tab && !tab.go(opens)) view.marketBlocked();
  } });
}

function refuseAsk(error) {
  if (error.code === "unreachable") error.message = words.unreachable_ask;
  throw error;
}

/** Claims a message. A refusal is shown at its question. */
function own(id) {
  act("unclaimed-yes", () => asking.ask(id).catch((error) => refuseOwn(id, error)), { take: (answer) => {
    if (!answer) return;
    unclaimed.drop(id);
    store.applyExpectation(answer);
    view.focus();
  } });
}

function refuseOwn(id, error) {
  if (error.code === "no_message") unclaimed.drop(id);
  if (error.code !== "number_busy") throw error;
  unclaimed.error(error.message);
}

/** Rejects the code on show. The message knows its lease; if not, it is this place's. */
function reject() {
  const { main } = messages;
  if (!main) return;
  const fence = main.fence ?? journey.fence(store.state);
  act("sms-reject", () => actions.reject(fence, main.id).catch(refuseReject), {
    wanted: () => messages.has(main.id),
    take: (answer) => {
      if (!answer) return;
      journey.reject(store.state);
      messages.reject(main.id);
      forget();
      view.focus();
    },
  });
}

/** A message that is gone already is no error to a seller who wanted it gone. */
function refuseReject(error) {
  if (!(error instanceof Refused) || !error.final) throw error;
  if (error.code === "no_message") return { status: "rejected" };
  messages.note(error.message);
}

const numberCopy = byID("number-copy");
if (numberCopy) {
  numberCopy.hidden = false;
  numberCopy.addEventListener("click", () =>
    copy(numberCopy, byID("number").textContent.trim(), byID("number"), words),
  );
}

// Links that look like buttons react to the space bar like buttons.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.matches("a.button")) return;
  event.preventDefault();
  event.target.click();
});

document.getElementById("countdown").addEventListener("wr-tick", (event) => narrator.tick(event.detail));

document.getElementById("join-form").noValidate = true;
keepLanguage(page.lang);
offerAlerts(alert);
byID("screen-row").hidden = !Awake.possible;
put(byID("screen-state"), words.turned_off);
view.draw(store.state);
narrator.begin(store.state);
for (const offer of page.offers) unclaimed.hear(offer);
if (page.joined_device) notice.hear({ notice: "joined_device" }, store.state);
attend(store.state);
document.addEventListener("visibilitychange", () => asking.putOff());
const gone = () => passedOver.gone(store.state);
whenBack({ back: gone, away: gone });
