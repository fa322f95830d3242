import { byID } from "./dom.js";
import { fill } from "./words.js";
import { spoken } from "./view.js";

const HURRIES = 30000; // milliseconds: the last part of a turn
const MILESTONES = [60000, HURRIES, 10000]; // milliseconds left that are worth an announcement
const SOON = 3; // the position from which it is worth getting ready

/** Announces a change by voice, sound and title; the view draws it. */
export class Narrator {
  #left = Infinity;

  constructor({ words, view, alert, speaker, server, claiming }) {
    Object.assign(this, { words, view, alert, speaker, server, claiming });
  }

  /** The state that the page came with needs no announcement, only its title. */
  begin(state) {
    this.#head(state);
    this.#left = this.#rest(state);
  }

  announce(state, before, pressed) {
    this.#head(state);
    if (state.status !== before.status) this.speaker.hush();
    if (state.status === "locked") this.#turn(state, before, pressed);
    else if (before.status === "locked") this.alert.over();
    if (state.status === "waiting") this.#waiting(state, before);
    if (state.status === "ended" && before.status !== "ended") this.#ended();
    const placeless = state.status === "idle" || state.status === "ended";
    if (placeless && before.opens_at != null && state.opens_at == null) {
      const { words: t } = this;
      this.speaker.say(fill(t.say_both, t.notify_opened));
      this.alert.near(t.notify_opened);
    }
    if (state.paused !== before.paused && state.status === "waiting") this.#paused(state.paused);
  }

  /** A message has come. Only a code that may be entered interrupts a screen reader. */
  message({ code, text, late }, status) {
    const t = this.words;
    if (late && status !== "ended") this.speaker.say(t.say_past);
    else if (code) this.speaker.shout(this.#code(code, late));
    else this.speaker.say(fill(t.say_text, { text }));
    if (!late || status === "ended") this.alert.message(code !== "");
    this.#head(this.view.state);
  }

  #code(code, late) {
    const lead = fill(this.words.say_code, { code: [...code].join(" ") });
    return late ? fill(this.words.say_both, { title: this.words.late_title, lead }) : lead;
  }

  forget() {
    this.speaker.forget();
    this.#head(this.view.state);
  }

  /** An unclaimed message has come. */
  unclaimed() {
    this.speaker.say(this.words.say_unclaimed);
    this.alert.message(false);
  }

  /** The turn goes on to another step, by itself or by a press. */
  step(step, before) {
    const { title, lead } = this.words.turn[step] ?? {};
    if (step === "over") this.#over();
    if (step === "busy") this.#busy();
    else if (step === "over" || before === "over" || (step === "ask" && before === "claim"))
      this.speaker.say(fill(this.words.say_both, { title, lead }));
    else if (step === "ask" && before === "busy") this.speaker.say(this.words.say_free);
    else if (step === "asked" || step === "again")
      this.speaker.say(lead); // by a press, which focuses the title
  }

  /**
   * The countdown is silent but for a few moments. The last half minute of a turn also sounds for a seller
   * who looks elsewhere.
   */
  tick(left) {
    this.alert.title(this.view.title(left));
    const passed = MILESTONES.find((at) => left <= at && this.#left > at);
    this.#left = left;
    if (!passed || left === 0 || this.view.turn.step === "claim") return;
    this.speaker.say(fill(this.words.say_left, { left: spoken(this.words, left) }));
    if (passed === HURRIES) this.alert.hurry();
  }

  /**
   * A turn that is over when its frame comes, or when it is spoken, is no news. The page
   * may have slept through it.
   */
  #turn(state, before, pressed) {
    if (before.status === "locked" && before.fence === state.fence) return;
    this.#left = this.#rest(state);
    if (this.#left === 0) return;
    this.speaker.shout(() => this.#myTurn());
    if (this.view.turn.step === "busy") this.#busy();
    if (!pressed) this.alert.turn();
  }

  /** The page could not claim the turn by itself: the seller has to press the button. */
  claim() {
    this.speaker.shout(() => this.#myTurn());
  }

  #myTurn() {
    const { state } = this.view;
    const left = this.#rest(state);
    if (state.status !== "locked" || left === 0) return "";
    const pattern =
      state.claim_by == null || this.claiming.byItself ? this.words.say_turn : this.words.say_claim;
    return fill(pattern, { left: spoken(this.words, left) });
  }

  /** A turn that has run out calls for no attention. */
  #over() {
    this.speaker.hush();
    this.alert.over();
    this.#head(this.view.state);
  }

  #busy() {
    const left = this.view.state.codes.ask_after - this.server.now();
    const more = byID("ask-more"); // the turn is longer by the wait
    const words = fill(this.words.say_busy, { left: spoken(this.words, left) });
    this.speaker.say(more.hidden ? words : `${words} ${more.textContent.trim()}`);
  }

  #waiting(state, before) {
    if (state.unclaimed) return before.unclaimed || this.speaker.say(this.words.say_missed);
    const back = before.status === "waiting" && before.unclaimed === true;
    if (before.status === "waiting" && before.queue_position === state.queue_position && !back) return;
    if (before.status === "waiting") this.#nearer(state.queue_position, before.queue_position);
    const t = this.words;
    if (back) this.speaker.say(fill(t.say_both, { title: t.say_back, lead: this.#place() }));
    else this.speaker.place(() => this.#place(), state.queue_position <= SOON);
  }

  /** Returns the words for the place, with the page's own for the next one. */
  #place() {
    const { view, words: t } = this;
    const { status, queue_position: n } = view.state;
    if (status !== "waiting") return "";
    const [ahead, wait] = [view.aheadWords, view.waitWords];
    return n === 1 ? fill(t.say_both, { title: ahead, lead: wait }) : fill(t.say_waiting, { n, ahead, wait });
  }

  /** The page may show an old state: the notice about it is spoken as it appears. */
  lost({ title, lead }) {
    this.speaker.say(fill(this.words.say_both, { title, lead }));
  }

  /** A seller who becomes third, and next, is alerted wherever they look. */
  #nearer(now, before) {
    const t = this.words;
    if (now === 1 && before > 1) this.alert.near(t.notify_next);
    else if (now <= SOON && before > SOON)
      this.alert.near({ ...t.notify_soon, lead: fill(t.notify_soon.lead, { n: now - 1 }) });
  }

  /** The title is spoken as the heading, which has the focus. */
  #ended() {
    this.speaker.say(this.view.ending.lead);
  }

  #paused(paused) {
    this.speaker.say(paused ? this.words.say_paused : this.words.say_resumed);
  }

  #head(state) {
    this.alert.icon(state.status === "locked" && this.view.turn.step !== "over");
    this.alert.title(this.view.title(this.#rest(state)));
  }

  #rest(state) {
    const until = state.claim_by ?? state.lease_expires_at;
    return until == null ? 0 : Math.max(until - this.server.now(), 0);
  }
}
