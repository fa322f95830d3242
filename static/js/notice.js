import { byID, put } from "./dom.js";

const TOGETHER = 3000; // milliseconds within which a message is the one that a notice is about

/** What support did for me, in a line that stays until it is no longer true. */
export class SupportNotice {
  #about = null; // {place, message, at}

  /** messages: the texts on show, one of which "assigned" speaks of. */
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

  /** A message has come: the one that was assigned, or another, of which the notice would not be true. */
  message(id) {
    const about = this.#about;
    if (!about?.assigned) return;
    if (this.now() - about.at < TOGETHER) about.message = id;
    else this.#end();
  }

  /** After each change: a turn or a place that is over, or a message that is gone, takes its notice with it. */
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
