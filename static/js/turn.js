import { byID, put } from "./dom.js";

const HURRIES = 30000; // milliseconds: the last part of a turn; shorter turns have none
const STEPS = { asked: 2, text: 2, code: 3 }; // all others are in the first

/** Draws the step of a turn: to ask, to wait until the number is free, to enter the code. */
export class Turn {
  #step; // the step on show; undefined before the first
  #state = null;

  /** onStep receives each new step of a turn, and the one before. */
  constructor({ words, lease, server, journey, messages, onStep }) {
    Object.assign(this, { words, lease, server, journey, messages, onStep });
    byID("ask-countdown").addEventListener(
      "wr-tick",
      ({ detail: left }) => left === 0 && this.draw(this.#state),
    );
  }

  get step() {
    return this.#step;
  }

  /** Returns whether it is early to be done: no code is on show. */
  get early() {
    return this.#step !== "code";
  }

  draw(state) {
    const before = this.#step;
    const same = this.#state?.fence === state.fence;
    this.#state = state;
    const step = this.#stepOf(state);
    this.#step = step;
    document.body.dataset.step = step;
    if (step) this.#show(state, step);
    this.hurry();
    byID("ask-countdown").run(this.server, this.#busy(state) ? state.codes.ask_after : null);
    if (same && before !== undefined && step !== before) this.onStep(step, before);
  }

  /** Colours and labels the time left of a turn: the last half minute looks different. */
  hurry() {
    const { status, claim_by, lease_expires_at: until } = this.#state;
    const left = status === "locked" ? until - this.server.now() : Infinity;
    const over = this.#over(this.#state);
    if (over && this.#step !== "over") return this.draw(this.#state);
    const claims = claim_by != null && !over;
    const hurry = !claims && !over && left <= HURRIES && this.lease > HURRIES;
    document.body.dataset.hurry = String(hurry);
    const label = byID("time-left");
    const t = this.words;
    const busy = this.#step === "busy";
    put(
      label,
      claims
        ? t.answer_in
        : over
          ? t.time_is_up
          : busy
            ? t.ask_in
            : hurry
              ? t.nearly_over
              : label.dataset.usual,
    );
  }

  #stepOf(state) {
    if (state.status !== "locked") return "";
    if (this.#over(state)) return "over";
    if (state.claim_by != null) return "claim";
    const { codes } = state;
    const { main } = this.messages;
    if (main?.code && this.journey.askedOver(state) !== main.id) return "code";
    if (this.#busy(state)) return "busy";
    if (this.journey.rejected(state)) return "again";
    if (!(codes?.asked > 0)) return "ask";
    return main && !main.code ? "text" : "asked";
  }

  /** Returns whether a turn has run out without a word of how it ended: another seller may have it now. */
  #over({ status, claim_by, lease_expires_at: until }) {
    const ends = Math.min(claim_by ?? Infinity, until ?? Infinity);
    return status === "locked" && ends <= this.server.now();
  }

  #busy({ status, codes }) {
    return status === "locked" && codes?.ask_after > this.server.now();
  }

  #show(state, step) {
    const { title, lead } = this.words.turn[step];
    put(byID("turn-title"), title);
    put(byID("turn-lead"), lead);
    const current = STEPS[step] ?? 1;
    for (const n of [1, 2, 3])
      byID(`step-${n}`).setAttribute("aria-current", n === current ? "step" : "false");
    for (const id of ["done-form", "cancel-form", "lost-turn"]) byID(id).hidden = step === "over";
    byID("claim-form").hidden = step !== "claim";
    byID("ask-part").hidden = step !== "ask" && step !== "busy";
    byID("ask").hidden = step === "busy";
    byID("countdown").hidden = step === "busy";
    byID("ask-countdown").hidden = step !== "busy";
    byID("ask-more").hidden = step !== "busy" || !this.journey.wasPutOff(state);
    byID("ask-again").hidden =
      step === "ask" || step === "over" || this.#busy(state) || !(state.codes?.asked > 0);
    place(byID("ask-again"), byID(step === "again" ? "turn-task" : "turn-more"));
  }
}

/** The tab order follows the eye, so that a button which becomes the task moves there as a whole. */
function place(button, part) {
  if (button.parentElement !== part) part.append(button);
}
