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
    this.#keep("held", state, state.fence);
  }

  /** The fence of this place's turn; null where it had none that is known. */
  fence(state) {
    return state.fence ?? (Number(this.#kept("held", state)) || null);
  }

  /** Whether this place came to its turn before it ended. */
  held(state) {
    return state.fence != null || this.#kept("held", state) != null;
  }

  /** I pressed that I was done, with that message on show. */
  finish(state, message) {
    this.#keep("finished", state, message);
  }

  /** Which message was on show when I was done; null if it was not I who ended it. */
  finished(state) {
    return this.#kept("finished", state);
  }

  /** I asked for a code, with that message on show: another will come. What I rejected before is past. */
  ask(state, message) {
    this.#keep("asked", state, message);
    this.#keep("rejected", state, "");
  }

  /** Which message was on show when I last asked. */
  askedOver(state) {
    return this.#kept("asked", state);
  }

  /** I said that a code was not mine. */
  reject(state) {
    this.#keep("rejected", state, state.status);
  }

  /** Whether I said it once the turn was over: it was what ended it. Before, it ends by something else still. */
  rejectedEnd(state) {
    return this.#kept("rejected", state) === "ended";
  }

  rejected(state) {
    return Boolean(this.#kept("rejected", state));
  }

  /** My turn was put off, because the number was busy. */
  putOff(state) {
    this.#keep("put-off", state, 1);
  }

  wasPutOff(state) {
    return this.#kept("put-off", state) != null;
  }

  /** I said that I did not ask for a message. */
  refuse(state, message) {
    this.#keep(`refused:${message}`, state, 1);
  }

  refused(state, message) {
    return this.#kept(`refused:${message}`, state) != null;
  }

  /** Follows whether my turn went by without an answer, and since when, in unix ms; "?": that was not seen. */
  follow(state) {
    if (state.status === "locked") this.#keep("missed", state, state.claim_by ?? ""); // unless it is claimed until then
    if (state.status !== "waiting") return;
    if (state.unclaimed !== true) this.#keep("missed", state, "");
    else if (!this.missed(state)) this.#keep("missed", state, "?");
  }

  missed(state) {
    return Boolean(this.#kept("missed", state));
  }

  /** Since when my turn has gone by; null where that is not known. */
  missedAt(state) {
    return Number(this.#kept("missed", state)) || null;
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
