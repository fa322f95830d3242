import { byID, put } from "./dom.js";
import { LostNotice } from "./lost.js";
import { Turn } from "./turn.js";
import {
  ahead,
  clock,
  estimate,
  expected,
  fill,
  opensWords,
  placeWords,
  span,
  timeOfDay,
  waitParts,
  waitSentence,
  waitsNow,
  whenWords,
} from "./words.js";

const SOON = 10; // seconds: a wait that is not worth a number
const CLOCKLESS = 12 * 60 * 60; // seconds: from such a wait on a time of day does not show which day it is of

const SIGNS = { expired: "time", dropped: "time", cancelled: "left" }; // all others are notes

/** Draws a state into the page that the server rendered. */
export class View {
  #formOf = "";

  /**
   * history is what the page knew of turns when it was loaded: their spread, and by the room's past their
   * average. onStep receives each new step of the turn, onLost the notice that the page
   * may be old.
   */
  constructor({
    words,
    leaseSeconds,
    claimSeconds,
    dropSeconds,
    history,
    journey,
    server,
    messages,
    unclaimed,
    onStep,
    onLost,
  }) {
    Object.assign(this, { words, history, onLost });
    this.lease = leaseSeconds * 1000;
    this.claim = claimSeconds * 1000;
    this.drop = dropSeconds * 1000;
    this.journey = journey;
    this.server = server;
    this.messages = messages;
    this.unclaimed = unclaimed;
    this.turn = new Turn({ words, lease: this.lease, server, journey, messages, onStep });
    this.state = null;
    this.lost = new LostNotice({ words: words.breaks, onChange: (notice) => this.#broken(notice) });
    byID("lease-countdown").addEventListener("wr-tick", () => this.#waits());
    byID("countdown").addEventListener("wr-tick", () => this.turn.hurry());
  }

  draw(state) {
    this.state = state;
    this.first = state.status === "waiting" ? (this.first ?? state.queue_position) : null;
    const body = document.body.dataset;
    body.state = state.status;
    body.next = String(state.status === "waiting" && state.queue_position === 1);
    body.missed = String(state.status === "waiting" && state.unclaimed === true);
    body.paused = String(state.paused);
    body.closed = String(this.closed);
    this.panels();
    this.messages.show(state.status);
    this.unclaimed.show(state);
    if (state.status === "locked") this.journey.hold(state);
    this.journey.follow(state);
    this.turn.draw(state);
    if (!["asked", "text"].includes(this.turn.step)) put(byID("market-note"), ""); // its button is gone
    byID("paused").hidden = !state.paused || state.status === "locked";
    this.#opens();
    this.#announced();
    if (state.status === "idle") this.#waits();
    if (state.status === "waiting") this.#waiting(state);
    if (state.status === "ended") this.#ended(state);
    body.entered = String(this.entered);
    byID("entered-form").hidden = !this.toEnter;
    body.ending = state.status === "ended" ? this.#kind(state) : "";
    if (state.ticket != null)
      put(byID("ticket"), byID("ticket").textContent.replace(/\d+/, String(state.ticket)));
    this.#countdowns(state);
    for (const field of document.querySelectorAll("[data-fence]")) field.value = state.fence ?? "";
    this.#form(state.status);
  }

  /** A returning seller need not type a name again, but can give another one. */
  #form(status) {
    const join = byID("join");
    if (join) put(join, status === "ended" ? join.dataset.again : join.dataset.first);
    const seller = byID("seller");
    if (seller && this.#formOf !== status) {
      seller.open = status !== "ended" || byID("seller-id").value === "";
      seller.ontoggle = () => this.#order(seller, join);
      if (status === "idle" || status === "ended") this.#order(seller, join);
    }
    this.#formOf = status;
  }

  /**
   * The button comes first, unless there is something to fill in before it. The focused element is not moved:
   * it would lose focus.
   */
  #order(seller, join) {
    const behind = Boolean(seller.compareDocumentPosition(join) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (seller.open && !behind) seller.after(byID("error"), join);
    if (!seller.open && behind) seller.before(byID("error"), join);
  }

  panels() {
    const { status } = this.state;
    for (const panel of document.querySelectorAll("[data-panel]")) {
      panel.hidden = !panel.dataset.panel.split(" ").includes(status);
    }
    byID("join-form").hidden ||= this.closed;
  }

  /** Returns whether a seller without a place can not join, since the room is outside its hours. */
  get closed() {
    const { status, opens_at: at } = this.state;
    return at != null && (status === "idle" || status === "ended");
  }

  #opens() {
    const { closed, server, words } = this;
    byID("line").hidden = closed;
    byID("closed").hidden = byID("closed-notify").hidden = !closed;
    if (closed)
      put(byID("opens"), opensWords(words, server.here(this.state.opens_at), server.here(server.now())));
  }

  /** Support's announcement is on every page of the room. Its element speaks to screen readers by itself. */
  #announced() {
    const { notice } = this.state;
    const place = byID("announcement");
    place.dataset.level = notice?.level ?? "";
    put(place, notice?.text ?? "");
  }

  /** Focuses the heading of the state on show, from where reading goes on. */
  focus() {
    const heading = document.querySelector("[data-panel]:not([hidden]) h1");
    heading?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /** Focuses the heading even if the focused element is gone. */
  keepFocus() {
    const { activeElement: at, body } = document;
    if (at && at !== body && at.getClientRects().length === 0) this.focus();
  }

  connection(status) {
    document.body.dataset.connection = status;
    put(byID("connection"), this.words.connection[status]);
    this.lost.hear(status);
  }

  /** Records when the shown state was true. */
  heard(at = new Date()) {
    put(byID("updated"), timeOfDay(at));
    byID("updated").dateTime = at.toISOString();
  }

  /** Shows an error beside the pressed button; seller: the seller's name is wrong. */
  error(text, seller = false) {
    const { status } = this.state;
    for (const place of document.querySelectorAll("[data-error]"))
      put(place, place.dataset.error === status ? text : "");
    const form = status === "idle" || status === "ended";
    put(byID("error"), form ? text : "");
    const field = byID("seller-id");
    if (form && seller && field?.closest("details")) field.closest("details").open = true;
    field?.setAttribute("aria-invalid", String(form && seller));
  }

  /** The marketplace did not open by itself: focuses its link. */
  marketBlocked() {
    put(byID("market-note"), this.words.market_blocked);
    byID("market").focus();
  }

  get aheadWords() {
    return ahead(this.words, this.state.queue_position);
  }

  /** Without a connection a wait does not count down: others may have left meanwhile. */
  get waitWords() {
    if (this.lost.shown) return this.#lostWait;
    const { estimated, maximum } = waitsNow(this.state, this.server.now(), this.#usual);
    return waitSentence(this.words, estimated, maximum, this.#usual);
  }

  /** The words in place of an unknown wait; a page whose seller was replaced never gets another. */
  get #lostWait() {
    return document.body.dataset.connection === "replaced" ? this.words.wait_unknown : this.words.wait_lost;
  }

  /** Returns whether the shown code ended the turn and has yet to be entered, as far as is known. */
  get toEnter() {
    return this.#completedByCode && !this.#done;
  }

  /** Returns whether the seller has entered the code of a turn that it completed. */
  get entered() {
    return this.#completedByCode && this.#done;
  }

  get #completedByCode() {
    const { status, outcome } = this.state;
    return status === "ended" && outcome === "completed" && this.messages.code !== "";
  }

  get #done() {
    return this.journey.finished(this.state) === this.messages.main.id;
  }

  /** The words for how the place ended. A code on show has to be entered first. */
  get ending() {
    const { words: t, state, journey } = this;
    const { main } = this.messages;
    const rejected = journey.rejectedEnd(state);
    if (rejected && !main?.code) return t.code_rejected;
    if (this.toEnter && (rejected || !main.late)) return t.code_arrived;
    const outcome = this.#outcome;
    return main?.code && state.outcome !== "completed" ? { title: outcome.title, lead: t.try_code } : outcome;
  }

  get #outcome() {
    const { words: t, state, journey } = this;
    if (state.outcome === "cancelled" && journey.held(state)) return t.turn_given_up;
    if (state.outcome === "dropped" && journey.missed(state)) return t.drop_missed;
    return t.outcomes[state.outcome] ?? t.outcomes[""];
  }

  title(left) {
    const { status, queue_position: n, unclaimed } = this.state;
    const t = this.words;
    if (this.turn.step === "over") return `${t.turn.over.title} · ${t.brand}`;
    if (status === "locked") return fill(t.title_turn, { clock: clock(left) });
    if (status === "waiting" && unclaimed) return t.title_missed;
    if (status === "waiting") {
      return `${n === 1 ? t.notify_next.title : fill(t.title_waiting, { n })} · ${t.brand}`;
    }
    if (status === "ended") return `${this.ending.title} · ${t.brand}`;
    return t.brand;
  }

  #waiting(state) {
    const { words: t } = this;
    const n = state.queue_position;
    const joined = this.journey.start(state);
    const passed = joined - n;
    const position = byID("position");
    put(position, String(n));
    position.dataset.digits = String(String(n).length);
    put(byID("unit"), placeWords(t, n).slice(String(n).length));
    put(byID("ahead"), this.aheadWords);
    put(byID("passed"), passed > 0 ? fill(t.passed, { n: passed }) : t.started);
    this.#missed(state);
    const progress = byID("progress");
    progress.max = joined;
    progress.value = passed;
    this.#over();
    this.#waits();
  }

  /**
   * The words for a holder without time left. A paused line does not hand on, and without
   * news the outcome is unknown.
   */
  #over() {
    byID("lease-countdown").dataset.over =
      this.state.paused || this.lost.shown ? "–" : this.words.handing_off;
  }

  #missed(state) {
    const { words: t } = this;
    const missed = state.unclaimed === true;
    byID("back-form").hidden = !missed;
    byID("keep").hidden = missed;
    put(byID("missed-lead"), state.lease_expires_at == null ? t.missed_free : t.missed_held);
    const until = this.drop > 0 && this.journey.missedAt(state) + this.drop;
    const known = until > this.drop;
    put(byID("missed-by"), known ? fill(t.missed_by, { time: timeOfDay(this.server.here(until)) }) : "");
  }

  #ended(state) {
    const { ending } = this;
    const { title, lead } = ending;
    byID("outcome").dataset.outcome = state.outcome ?? "";
    byID("outcome").dataset.rejected = String(ending === this.words.code_rejected);
    put(byID("outcome"), title);
    put(byID("outcome-lead"), lead);
  }

  /** Returns which sign belongs to an ending, as kindOfEnding in Go. */
  #kind({ outcome }) {
    if (outcome === "completed") return this.ending === this.words.code_rejected ? "note" : "done";
    return SIGNS[outcome] ?? "note";
  }

  #countdowns(state) {
    const mine = state.status === "locked";
    const claims = mine && state.claim_by != null;
    byID("countdown").run(
      this.server,
      claims ? state.claim_by : mine ? state.lease_expires_at : null,
      claims ? this.claim : this.lease,
    );
    byID("lease-countdown").run(this.server, mine ? null : state.lease_expires_at, this.lease);
  }

  /** Shows that the connection has been lost for a while, or that it is back. */
  #broken(notice) {
    if (notice) this.onLost(notice);
    if (this.state?.status === "waiting") this.#over();
    this.#waits();
  }

  /** Draws the waits that run down between two frames. */
  #waits() {
    const { state } = this;
    if (state?.status === "waiting") this.#wait(state);
    if (state?.status !== "idle") return;
    const held = state.lease_expires_at != null || state.maximum_wait > 0;
    put(byID("queue-length"), this.#line(state, held));
    put(byID("newcomer-estimate"), this.#newcomer(state, held));
  }

  #wait(state) {
    const { estimated, maximum } = waitsNow(state, this.server.now(), this.#usual);
    const [wait, latest] = this.lost.shown ? [this.#lostWait, ""] : this.#parts(estimated, maximum);
    put(byID("estimate"), wait);
    put(byID("latest"), latest);
    put(byID("when"), latest ? this.#when(state) : "");
  }

  #parts(estimated, maximum) {
    return waitParts(this.words, estimated, maximum, this.#usual);
  }

  /**
   * Returns what the page knows of turns, as Usual in Go. The spread changes slowly: it is that of the page's
   * load. Each place that the seller has come forward since then counts as a lease that has ended.
   */
  get #usual() {
    const { queue_position: place, queue_length, lease_expires_at: until, server_time: at } = this.state;
    const position = place ?? queue_length + 1;
    const holds = this.history.holds + (place == null ? 0 : Math.max(this.first - place, 0));
    const held = until != null;
    const left = held ? (until - at) / 1000 : 0;
    return { ...this.history, position, held, left, holds, lease: this.lease / 1000 };
  }

  /** Returns a time of day, from the last frame, so that it stands still until something changes. */
  #when({ estimated_wait: estimated, maximum_wait: maximum, server_time: time }) {
    const wait = expected(estimated, maximum, this.#usual);
    if (wait == null || wait < 60 || wait >= CLOCKLESS) return "";
    const at = this.server.here(time + wait * 1000);
    return whenWords(this.words, at.getHours(), at.getMinutes());
  }

  #line(state, held) {
    const { words: t } = this;
    if (state.queue_length > 0) return fill(t.line_waiting, { n: state.queue_length });
    if (held) return t.line_held;
    return state.estimated_wait == null ? t.line_empty : t.line_free;
  }

  #newcomer(state, held) {
    const { words: t } = this;
    if (this.lost.shown) return this.#lostWait;
    if (state.estimated_wait == null) return t.no_wait_yet;
    if (!held && state.queue_length === 0) return t.start_now;
    const { estimated } = waitsNow(state, this.server.now(), this.#usual);
    if (estimated <= SOON) return t.join_soon;
    return estimated < 60 ? t.join_under : fill(t.join_about, { wait: estimate(t, estimated) });
  }
}

export function spoken(words, milliseconds) {
  return span(words, Math.max(Math.ceil(milliseconds / 1000), 0));
}
