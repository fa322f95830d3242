const EVERY = 3000; // milliseconds, and up to a third more, so that pages do not ask all at once

/** Asks for the status every few seconds, where no socket comes through. */
export class Poll {
  #timer = 0;
  #asking = false;
  #on = false;

  /** ask asks once; onResult receives whether there was an answer. */
  constructor({ ask, onResult }) {
    Object.assign(this, { ask, onResult });
  }

  start() {
    if (this.#on) return;
    this.#on = true;
    this.now();
  }

  stop() {
    this.#on = false;
    clearTimeout(this.#timer);
  }

  /** Asks at once, where polling is on. */
  async now() {
    clearTimeout(this.#timer);
    if (!this.#on || this.#asking) return;
    this.#asking = true;
    const answered = await this.ask().then(() => true, () => false);
    this.#asking = false;
    if (!this.#on) return;
    this.onResult(answered);
    this.#timer = setTimeout(() => this.now(), EVERY * (1 + Math.random() / 3));
  }
}
