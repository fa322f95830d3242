import { byID, put } from "./dom.js";
import { LostNotice } from "./lost.js";
import { Turn } from "./turn.js";
import { ahead, clock, estimate, fill, span, timeOfDay, waitSentence, waitsNow } from "./words.js";

/** Draws a state into the page that the server rendered. */
export class View {
  /** onStep hears of each new step of my turn. */
  constructor({ words, leaseSeconds, journey, server, messages, unclaimed, onStep }) {
    this.words = words;
    this.lease = leaseSeconds * 1000;
    this.journey = journey;
    this.server = server;
    this.messages = messages;
    this.unclaimed = unclaimed;
    this.turn = new Turn({ words, server, journey, messages, onStep });
    this.state = null;
    this.lost = new LostNotice(() => this.#waits());
    byID("lease-countdown").addEventListener("wr-tick", () => this.#waits());
    const label = byID("time-left");
    const usual = label.textContent;
    byID("countdown").addEventListener("wr-tick", ({ detail: left }) => put(label, left > 0 ? usual : words.time_is_up));
  }

  draw(state) {
    this.state = state;
    const body = document.body.dataset;
    body.state = state.status;
    body.next = String(state.status === "waiting" && state.queue_position === 1);
    body.paused = String(state.paused);
    this.panels();
    this.messages.show(state.status);
    this.unclaimed.show(state);
    if (state.status === "locked") this.journey.hold(state);
    this.turn.draw(state);
    byID("paused").hidden = !state.paused || state.status === "locked";
    if (state.status === "idle") this.#idle(state);
    if (state.status === "waiting") this.#waiting(state);
    if (state.status === "ended") this.#ended(state);
    this.#countdowns(state);
    for (const field of document.querySelectorAll("[data-fence]")) field.value = state.fence ?? "";
    const join = byID("join");
    if (join) put(join, state.status === "ended" ? join.dataset.again : join.dataset.first);
  }

  panels() {
    const { status } = this.state;
    for (const panel of document.querySelectorAll("[data-panel]")) {
      panel.hidden = !panel.dataset.panel.split(" ").includes(status);
    }
  }

  /** To the heading of the state on show, which is where reading goes on. */
  focus() {
    const heading = document.querySelector("[data-panel]:not([hidden]) h1");
    heading?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  connection(status) {
    document.body.dataset.connection = status;
    put(byID("connection"), this.words.connection[status]);
    this.lost.hear(status);
  }

  heard() {
    const now = new Date();
    put(byID("updated"), timeOfDay(now));
    byID("updated").dateTime = now.toISOString();
  }

  /** Where something went wrong is said beside what was pressed. */
  error(text) {
    const { status } = this.state;
    for (const place of document.querySelectorAll("[data-error]")) put(place, place.dataset.error === status ? text : "");
    const formError = byID("error");
    const form = status === "idle" || status === "ended";
    put(formError, form ? text : "");
    byID("seller-id")?.setAttribute("aria-invalid", String(form && text !== ""));
  }

  get aheadWords() {
    return ahead(this.words, this.state.queue_position, this.state.lease_expires_at != null);
  }

  /** A wait is not counted down without a connection: who is gone by now is not known. */
  get waitWords() {
    if (this.lost.shown) return this.words.wait_lost;
    const { estimated, maximum } = waitsNow(this.state, this.server.now());
    return waitSentence(this.words, estimated, maximum);
  }

  get ending() {
    const { words: t, state, messages, journey } = this;
    const { main } = messages;
    if (!main && journey.rejected(state)) return t.code_rejected;
    const entered = main && journey.finished(state) === main.id;
    if (state.outcome === "completed" && main?.code && !main.late && !entered) return t.code_arrived;
    if (state.outcome === "cancelled" && journey.held(state)) return t.turn_given_up;
    return t.outcomes[state.outcome] ?? t.outcomes[""];
  }

  title(left) {
    const { status, queue_position: n } = this.state;
    const t = this.words;
    if (status === "locked") return fill(t.title_turn, { clock: clock(left) });
    if (status === "waiting") return `${fill(t.title_waiting, { n })} · ${t.brand}`;
    if (status === "ended") return `${this.ending.title} · ${t.brand}`;
    return t.brand;
  }

  #idle(state) {
    put(byID("queue-length"), fill(this.words.people, { n: state.queue_length }));
    this.#waits();
  }

  #waiting(state) {
    const { words: t } = this;
    const n = state.queue_position;
    const joined = this.journey.start(state);
    const passed = joined - n;
    const position = byID("position");
    put(position, String(n));
    position.dataset.digits = String(String(n).length);
    put(byID("ahead"), this.aheadWords);
    put(byID("ticket"), byID("ticket").textContent.replace(/\d+/, String(state.ticket)));
    put(byID("passed"), passed > 0 ? fill(t.passed, { n: passed }) : t.started);
    const progress = byID("progress");
    progress.max = joined;
    progress.value = passed;
    byID("lease-countdown").dataset.over = state.paused ? "–" : t.handing_off;
    this.#waits();
  }

  #ended(state) {
    const { title, lead } = this.ending;
    byID("outcome").dataset.outcome = state.outcome ?? "";
    put(byID("outcome"), title);
    put(byID("outcome-lead"), lead);
  }

  #countdowns(state) {
    const mine = state.status === "locked";
    byID("countdown").run(this.server, mine ? state.lease_expires_at : null, this.lease);
    byID("lease-countdown").run(this.server, mine ? null : state.lease_expires_at, this.lease);
  }

  /** What runs down between two frames. */
  #waits() {
    const { state, words: t } = this;
    if (state?.status === "waiting") put(byID("estimate"), this.waitWords);
    if (state?.status !== "idle") return;
    const left = state.lease_expires_at == null ? 0 : state.lease_expires_at - this.server.now();
    const held = state.lease_expires_at != null || state.maximum_wait > 0;
    put(byID("holder"), left > 0 ? fill(t.held_left, { left: clock(left) }) : held ? t.held : t.free);
    put(byID("newcomer-estimate"), this.#newcomer(state, held));
  }

  #newcomer(state, held) {
    if (this.lost.shown) return this.words.wait_lost;
    if (state.estimated_wait == null) return this.words.no_wait_yet;
    if (!held && state.queue_length === 0) return this.words.start_now;
    return estimate(this.words, waitsNow(state, this.server.now()).estimated);
  }
}

export function spoken(words, milliseconds) {
  return span(words, Math.max(Math.ceil(milliseconds / 1000), 0));
}
