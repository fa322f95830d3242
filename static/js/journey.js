/** What the server need not know of a seller's way through a room; this tab remembers it. */
export class Journey {
  #here = new Map();

  constructor(room, state, joined) {
    this.room = room;
    if (joined > 0 && state.ticket != null) this.#keep("joined", state, joined);
  }

  /** The position at joining, never before where the seller is now. */
  start(state) {
    const start = Math.max(Number(this.#kept("joined", state)) || 0, state.queue_position);
    this.#keep("joined", state, start);
    return start;
  }

  /** My turn has come. */
  hold(state) {
    this.#keep("held", state, 1);
  }

  /** Whether this place came to its turn before it ended. */
  held(state) {
    return state.fence != null || this.#kept("held", state) != null;
  }

  /** I pressed that I was done, with so many messages on show. */
  finish(state, messages) {
    this.#keep("finished", state, messages);
  }

  /** How many messages were on show when I was done; null if it was not I who ended it. */
  finished(state) {
    const kept = this.#kept("finished", state);
    return kept == null ? null : Number(kept);
  }

  /** The messages up to a moment, in unix ms, are those of a turn before this place. */
  past(state, moment) {
    this.#keep("past", state, moment);
  }

  pastUntil(state) {
    return Number(this.#kept("past", state)) || 0;
  }

  #key(what, state) {
    return `${what}:${this.room}:${state.epoch}:${state.ticket}`;
  }

  #kept(what, state) {
    const key = this.#key(what, state);
    try {
      return this.#here.get(key) ?? sessionStorage.getItem(key);
    } catch {
      return null;
    }
  }

  #keep(what, state, value) {
    const key = this.#key(what, state);
    this.#here.set(key, String(value));
    try {
      sessionStorage.setItem(key, String(value));
    } catch {
      // Private windows may refuse; it is then forgotten with a reload.
    }
  }
}
