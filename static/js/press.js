import { Refused, passing } from "./http.js";
import { backoff } from "./backoff.js";

/** What a press was refused for while nothing could be reached is no longer true once all is. */
const BREAKS = ["unreachable", "store_unavailable", "draining", ""];

/**
 * What the seller pressed: one thing at a time, shown as busy on what was pressed, until there is an answer. A press is never
 * silent: whatever becomes of it, the page says so.
 */
export class Press {
  /** Whether what was asked is on its way, so that the newest change may be what comes of it. */
  sending = false;
  #busy = null; // id of what was pressed
  #broken = false; // whether a refusal is on show that is due to a break
  #connected = false;
  #waiting = () => {}; // is called when all can be reached again
  #wanted = null; // of what is kept
  #abort = null; // of what is kept

  /** settle does what a refusal calls for; say shows a text beside what was pressed. */
  constructor({ words, say, settle }) {
    Object.assign(this, { words, say, settle });
  }

  /** Whether a press is refused for another one that is not answered yet; of the same one that is seen. */
  taken(id) {
    if (this.#busy && this.#busy !== id) this.say(this.words.still_sending);
    return this.#busy != null;
  }

  /**
   * Asks, and takes the answer. wanted: where that is given, what was asked is kept through a break and asked again, for as long as
   * it says that it is still to be done; the call is given a signal that it is not any more.
   */
  async act(id, call, take, wanted) {
    if (this.taken(id)) return;
    this.#busy = id;
    this.sending = true;
    this.#broken = false;
    const button = document.getElementById(id);
    button?.setAttribute("aria-busy", "true");
    this.say(wanted && !this.#connected ? this.words.kept : "");
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

  /** Hears whether all can be reached. */
  connection(connected) {
    this.#connected = connected;
    if (!connected) return;
    this.#waiting();
    if (!this.#broken) return;
    this.#broken = false;
    this.say(this.words.not_sent);
  }

  /** Hears of each new state: what was pressed may be over with it. */
  check() {
    if (!this.#abort || this.#wanted()) return;
    this.#abort.abort();
    this.#waiting();
  }

  /** What was refused is not to be spoken of any more. */
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
          this.say("");
          return take(answer);
        }
        if (signal.aborted) return this.say("");
        this.say(this.words.kept);
        this.sending = false;
        await this.#again(attempt);
        this.sending = true;
      }
    } finally {
      this.#abort = null;
    }
  }

  /** Until the connection is back, or for a while: it may be there, and the server not answer. */
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
      this.say(this.words.went_wrong);
      throw second;
    }
    if (!(error instanceof Refused)) throw error; // for who looks at the console
  }
}
