const MOMENT = 1000; // milliseconds that a break may last without a word about it
const LONG = 15000; // milliseconds after which it may be the seller's own network

/** The notice that the connection is gone. onChange hears whether it is on show. */
export class LostNotice {
  #box = document.getElementById("lost");
  #advice = document.getElementById("lost-advice");
  #reload = document.getElementById("lost-reload");
  #timers = [];

  constructor(onChange) {
    this.onChange = onChange;
  }

  get shown() {
    return !this.#box.hidden;
  }

  /** Hears every status of the socket; a further failed try does not start over. */
  hear(status) {
    if (status !== "lost") this.#end();
    else if (this.#timers.length === 0) {
      this.#timers = [setTimeout(() => this.#show(), MOMENT), setTimeout(() => this.#advise(), LONG)];
    }
  }

  #show() {
    this.#box.hidden = false;
    this.onChange();
  }

  #advise() {
    this.#advice.textContent = this.#advice.parentElement.dataset.words;
    this.#reload.hidden = false;
  }

  #end() {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
    this.#advice.textContent = "";
    this.#reload.hidden = true;
    if (!this.shown) return;
    this.#box.hidden = true;
    this.onChange();
  }
}
