import { Refused, call, freshKey, post } from "../http.js";
import { signIn } from "./live.js";

/** Support's actions in a room. Each call has a key of its own, so that a repeat is the same action. */
export class Api {
  constructor({ room, lang, words }) {
    this.root = `/api/support/${encodeURIComponent(room)}`;
    this.page = { lang, words };
    this.words = words;
  }

  /**
   * Returns a function that repeats one action under one key until it is answered:
   * use it for further presses.
   */
  action(verb) {
    const key = freshKey();
    return (body) => this.#send(verb, body, key);
  }

  /** Returns the addresses from which several of the waiters came; none where they cannot be read. */
  async addresses() {
    try {
      return (await call(`${this.root}/addresses`, {}, this.page)).addresses;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [];
    }
  }

  async #send(verb, body, key) {
    try {
      return await post(`${this.root}/${verb}`, body, this.page, { "Idempotency-Key": key });
    } catch (error) {
      if (error instanceof Refused && error.problem.code === "not_signed_in") signIn();
      throw error;
    }
  }

  /** Returns a refusal in plain words. */
  plain(error) {
    return this.words.refusals[error.code] ?? error.message;
  }
}
