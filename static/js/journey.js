/** Where in line a seller started, which the server need not know; this tab then remembers. */
export class Journey {
  constructor(room, state, joined) {
    this.room = room;
    if (joined > 0 && state.ticket != null) this.#keep(state, joined);
  }

  /** The position at joining, never before where the seller is now. */
  start(state) {
    const start = Math.max(this.#kept(state), state.queue_position);
    this.#keep(state, start);
    return start;
  }

  #key(state) {
    return `joined:${this.room}:${state.epoch}:${state.ticket}`;
  }

  #kept(state) {
    try {
      return Number(sessionStorage.getItem(this.#key(state))) || 0;
    } catch {
      return 0;
    }
  }

  #keep(state, position) {
    try {
      sessionStorage.setItem(this.#key(state), String(position));
    } catch {
      // Private windows may refuse; the bar then starts anew after a reload.
    }
  }
}
