import { byID, put } from "./dom.js";

/** Draws what to do in my turn: to ask, to wait until I may, to enter the code. */
export class Turn {
  #step; // the step on show; undefined before the first
  #state = null;

  /** onStep hears of each new step of a turn, and of the one before. */
  constructor({ words, server, journey, messages, onStep }) {
    Object.assign(this, { words, server, journey, messages, onStep });
    byID("ask-countdown").addEventListener("wr-tick", ({ detail: left }) => left === 0 && this.draw(this.#state));
  }

  get step() {
    return this.#step;
  }

  /** Whether an ask waits for its code still. */
  get awaiting() {
    return this.#state?.codes?.open > 0 && !this.messages.code;
  }

  draw(state) {
    const before = this.#step;
    const same = this.#state?.fence === state.fence;
    this.#state = state;
    const step = this.#stepOf(state);
    this.#step = step;
    document.body.dataset.step = step;
    if (step) this.#show(state, step);
    byID("ask-countdown").run(this.server, this.#busy(state) ? state.codes.ask_after : null, 1);
    if (same && before !== undefined && step !== before) this.onStep(step, before);
  }

  #stepOf(state) {
    if (state.status !== "locked") return "";
    const { codes } = state;
    const { main } = this.messages;
    if (main?.code && this.journey.askedOver(state) !== main.id) return "code";
    if (this.#busy(state)) return "busy";
    if (this.journey.rejected(state)) return "again";
    if (!(codes?.asked > 0)) return "ask";
    return main && !main.code ? "text" : "asked";
  }

  #busy({ status, codes }) {
    return status === "locked" && codes?.ask_after > this.server.now();
  }

  #show(state, step) {
    const { title, lead } = this.words.turn[step];
    put(byID("turn-title"), title);
    put(byID("turn-lead"), lead);
    byID("ask-part").hidden = step !== "ask" && step !== "busy";
    byID("ask").hidden = step === "busy";
    byID("ask-busy").hidden = step !== "busy";
    byID("ask-more").hidden = !this.journey.wasPutOff(state);
    byID("ask-again").hidden = step === "ask" || this.#busy(state) || !(state.codes?.asked > 0);
  }
}
