import { byID, put } from "./dom.js";

const MOMENT = 1000; // milliseconds that a break may last without a notice
const LONG = 15000; // milliseconds after which the seller's own network may be the cause

/** The notice that the page may show an old state. onChange runs when it appears, with its words, or goes. */
export class LostNotice {
  #box = byID("lost");
  #status = "";
  #timers = [];

  constructor({ words, onChange }) {
    Object.assign(this, { words, onChange });
    byID("lost-reload").addEventListener("click", () => location.reload());
  }

  get shown() {
    return !this.#box.hidden;
  }

  /** Takes every status of the connection; a further failed try does not start over. */
  hear(status) {
    if (status === this.#status) return;
    this.#status = status;
    this.#end();
    const { title, lead } = this.words[status] ?? {};
    if (!title) return;
    put(byID("lost-title"), title);
    put(byID("lost-lead"), lead);
    const show = () => this.#show({ title, lead });
    if (status === "stale" || status === "replaced") show(); // it has lasted long already
    else this.#timers = [setTimeout(show, MOMENT), setTimeout(() => this.#advise(), LONG)];
  }

  #show(notice) {
    this.#box.hidden = false;
    this.onChange(notice);
  }

  #advise() {
    put(byID("lost-advice"), byID("lost-long").dataset.words);
    byID("lost-reload").hidden = false;
  }

  #end() {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
    put(byID("lost-advice"), "");
    byID("lost-reload").hidden = true;
    if (!this.shown) return;
    this.#box.hidden = true;
    this.onChange();
  }
}
