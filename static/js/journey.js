/** A tab's memory of a seller's way through a room: the part that the server need not know. */
export class Journey {
  #here = new Map();

  constructor(room, state, joined) {
    this.room = room;
    if (joined > 0 && state.ticket != null) this.#keep("joined", state, joined);
  }

  /** Returns the position at joining, never before the seller's present one. */
  start(state) {
    const start = Math.max(Number(this.#kept("joined", state)) || 0, state.queue_position);
    this.#keep("joined", state, start);
    return start;
  }

  /** Records that the turn has come. */
  hold(state) {
    this.#keep("held", state, state.fence);
  }

  /** Returns the fence of this place's turn; null if it had none that is known. */
  fence(state) {
    return state.fence ?? (Number(this.#kept("held", state)) || null);
  }

  /** Returns whether this place came to its turn before it ended. */
  held(state) {
    return state.fence != null || this.#kept("held", state) != null;
  }

  /** Records that the seller pressed done, with this message on show. */
  finish(state, message) {
    this.#keep("finished", state, message);
  }

  /** Returns the message on show at that press; null if the seller did not end the turn. */
  finished(state) {
    return this.#kept("finished", state);
  }

  /**
   * Records an ask for a code, with this message on show: another will come. It clears earlier rejections.
   */
  ask(state, message) {
    this.#keep("asked", state, message);
    this.#keep("rejected", state, "");
  }

  /** Returns the message on show at the last ask. */
  askedOver(state) {
    return this.#kept("asked", state);
  }

  /** Records that the seller rejected a code. */
  reject(state) {
    this.#keep("rejected", state, state.status);
  }

  /** Returns whether the seller rejected a code after the turn was over, so that the rejection ended it. */
  rejectedEnd(state) {
    return this.#kept("rejected", state) === "ended";
  }

  rejected(state) {
    return Boolean(this.#kept("rejected", state));
  }

  /** Records that the turn was extended because the number was busy. */
  putOff(state) {
    this.#keep("put-off", state, 1);
  }

  wasPutOff(state) {
    return this.#kept("put-off", state) != null;
  }

  /** Records that the seller said of an offered message that it is not theirs. */
  refuse(state, message) {
    this.#keep(`refused:${message}`, state, 1);
  }

  refused(state, message) {
    return this.#kept(`refused:${message}`, state) != null;
  }

  /** Records whether the turn was missed, and its claim_by in unix ms; "?" if this page did not see it. */
  follow(state) {
    // a claim before then clears it
    if (state.status === "locked") this.#keep("missed", state, state.claim_by ?? "");
    if (state.status !== "waiting") return;
    if (state.unclaimed !== true) this.#keep("missed", state, "");
    else if (!this.missed(state)) this.#keep("missed", state, "?");
  }

  missed(state) {
    return Boolean(this.#kept("missed", state));
  }

  /** Returns when the turn was missed; null if that is not known. */
  missedAt(state) {
    return Number(this.#kept("missed", state)) || null;
  }

  /** Records that messages up to a moment, in unix ms, belong to a turn before this place. */
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
      // Private windows may refuse; a reload then forgets it.
    }
  }
}
