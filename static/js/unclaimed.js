import { byID, put } from "./dom.js";
import { fill, timeOfDay } from "./words.js";

const KEPT = 600000; // milliseconds that a message may be claimed

/** The question whether a message is the seller's, for a message that no ask explains. */
export class Unclaimed {
  #list = [];
  #state = null;
  #timer = 0;

  /** journey remembers the messages answered with no; onYes receives the id of a message. */
  constructor({ words, server, journey, onYes }) {
    Object.assign(this, { words, server, journey });
    byID("unclaimed-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#shown) onYes(this.#shown.id);
    });
    byID("unclaimed-not").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#shown) this.#no(this.#shown.id);
    });
  }

  get open() {
    return this.#shown != null;
  }

  /** Takes an offer, and returns whether the page now asks about another message. */
  hear({ message_id: id, received_at }) {
    if (this.#list.some((m) => m.id === id) || this.journey.refused(this.#state, id)) return false;
    const asked = this.open;
    this.#list.push({ id, at: received_at });
    this.#draw();
    return !asked && this.open;
  }

  /** An offer belongs to one lease. */
  show(state) {
    if (this.#state?.fence !== state.fence) this.#list = [];
    this.#state = state;
    this.#draw();
  }

  /** Drops an answered offer: this page answered, or another seller has the message. */
  drop(id) {
    this.#list = this.#list.filter((m) => m.id !== id);
    this.#draw();
  }

  error(text) {
    put(byID("unclaimed-error"), text);
  }

  #no(id) {
    this.journey.refuse(this.#state, id);
    this.drop(id);
    byID("turn-title").focus();
  }

  get #shown() {
    return this.#state?.status === "locked" ? this.#list[0] : undefined;
  }

  #draw() {
    clearTimeout(this.#timer);
    this.#list = this.#list.filter((m) => m.at + KEPT > this.server.now());
    const shown = this.#shown;
    const box = byID("unclaimed");
    if (box.dataset.message !== (shown?.id ?? "")) this.error("");
    box.dataset.message = shown?.id ?? "";
    box.hidden = !shown;
    document.body.dataset.offer = String(Boolean(shown));
    byID("unclaimed-time").textContent = shown
      ? fill(this.words.arrived, { time: timeOfDay(this.server.here(shown.at)) })
      : "";
    if (shown) this.#timer = setTimeout(() => this.#draw(), Math.max(shown.at + KEPT - this.server.now(), 1));
  }
}
