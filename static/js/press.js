import { Refused, passing } from "./http.js";
import { backoff } from "./backoff.js";

/** Refusals that are due to a break are no longer true once the server is back. */
const BREAKS = ["unreachable", "store_unavailable", "draining", "overloaded", ""];

/** One press at a time. Its button is busy until there is an answer, and the page always shows the result. */
export class Press {
  /** Returns whether a request is on its way, so that the newest change may be its result. */
  sending = false;
  #busy = null; // id of the pressed button
  #broken = false; // whether the refusal on show is due to a break
  #connected = false;
  #waiting = () => {}; // resolves the wait for the connection
  #wanted = null; // of a kept press
  #abort = null; // of a kept press

  /** settle takes a refusal's consequences; showText shows a text beside the pressed button. */
  constructor({ words, showText, settle }) {
    Object.assign(this, { words, showText, settle });
  }

  /**
   * Returns whether another press is unanswered yet, so that this one is refused. A repeat
   * of the same press is not.
   */
  taken(id) {
    if (this.#busy && this.#busy !== id) this.showText(this.words.still_sending);
    return this.#busy != null;
  }

  /**
   * Sends a press, and takes the answer. With wanted, the press is kept through a break and sent again while
   * wanted returns true; the call gets a signal that aborts it when it does not.
   */
  async act(id, call, take, wanted) {
    if (this.taken(id)) return;
    this.#busy = id;
    this.sending = true;
    this.#broken = false;
    const button = document.getElementById(id);
    button?.setAttribute("aria-busy", "true");
    this.showText(wanted && !this.#connected ? this.words.kept : "");
    try {
      await this.#ask(call, take, wanted);
    } catch (error) {
      await this.#refused(error);
    } finally {
      this.#busy = null;
      this.sending = false;
      button?.removeAttribute("aria-busy");
    }
  }

  /** Takes whether the server can be reached. */
  connection(connected) {
    this.#connected = connected;
    if (!connected) return;
    this.#waiting();
    if (!this.#broken) return;
    this.#broken = false;
    this.showText(this.words.not_sent);
  }

  /** Runs at each new state: it may have settled the press. */
  check() {
    if (!this.#abort || this.#wanted()) return;
    this.#abort.abort();
    this.#waiting();
  }

  /** Clears the refusal on show. */
  forget() {
    this.#broken = false;
  }

  async #ask(call, take, wanted) {
    if (!wanted) return take(await call());
    this.#wanted = wanted;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      for (let attempt = 2; ; attempt++) {
        let reached = true;
        const answer = await call(signal).catch((error) => {
          if (!passing(error)) throw error;
          reached = false;
        });
        if (reached) {
          this.showText("");
          return take(answer);
        }
        if (signal.aborted) return this.showText("");
        this.showText(this.words.kept);
        this.sending = false;
        await this.#again(attempt);
        this.sending = true;
      }
    } finally {
      this.#abort = null;
    }
  }

  /** Waits for the connection, or for a while: it may be up and the server not answer. */
  #again(attempt) {
    return new Promise((done) => {
      this.#waiting = done;
      setTimeout(done, backoff(attempt));
    });
  }

  async #refused(error) {
    this.#broken = passing(error) && BREAKS.includes(error.code);
    try {
      await this.settle(error);
    } catch (second) {
      this.showText(this.words.went_wrong);
      throw second;
    }
    if (!(error instanceof Refused)) throw error; // for developers at the console
  }
}
