import { byID, put } from "./dom.js";

const TOGETHER = 3000; // milliseconds within which a message belongs to a notice

/** Support's notice to the seller, in a line that stays until it is no longer true. */
export class SupportNotice {
  #about = null; // {place, message, at}

  /** messages: the shown texts; an "assigned" notice is about one of them. */
  constructor({ words, messages, now = () => performance.now() }) {
    Object.assign(this, { words, messages, now });
  }

  hear({ notice }, state) {
    const words = this.words[notice];
    if (!words) return;
    const message = notice === "assigned" ? this.messages.main?.id : undefined;
    this.#about = { assigned: notice === "assigned", place: placeOf(state), message, at: this.now() };
    put(byID("notice"), words);
  }

  /** A message has come: the assigned one, or another, which makes the notice untrue. */
  message(id) {
    const about = this.#about;
    if (!about?.assigned) return;
    if (this.now() - about.at < TOGETHER) about.message = id;
    else this.#end();
  }

  /** Runs after each change: a turn, a place or a message that is gone takes its notice with it. */
  check(state) {
    const { place, message } = this.#about ?? { place: placeOf(state) };
    const over = message === undefined ? place !== placeOf(state) : !this.messages.has(message);
    if (over) this.#end();
  }

  #end() {
    this.#about = null;
    put(byID("notice"), "");
  }
}

function placeOf({ epoch, ticket, status, fence }) {
  return [epoch, ticket, status, fence].join();
}
