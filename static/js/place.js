const KEPT = 30 * 60 * 1000; // ms: an older end of a place is not shown any more

/** The place that this tab had last. With it the page can report a place that the store has lost. */
export class LastPlace {
  #key;
  #place = null;

  /** key: where it is kept in the tab's storage; "": nowhere. */
  constructor(key) {
    this.#key = key;
    if (!key) return;
    try {
      this.#place = JSON.parse(sessionStorage.getItem(this.#key));
    } catch {
      // Private windows may refuse; it is then known until a reload.
    }
  }

  /** Returns a received state, changed to lost where the place belongs to an epoch that is gone. */
  check(state) {
    if (state.epoch == null) return state; // before the first state from the server
    if (state.status === "waiting" || state.status === "locked") {
      this.#keep({ epoch: String(state.epoch), ticket: state.ticket, at: Date.now() });
      return state;
    }
    const lost =
      state.status === "idle" &&
      this.#place &&
      this.#place.epoch !== String(state.epoch) &&
      Date.now() - this.#place.at < KEPT;
    if (lost) return { ...state, status: "ended", outcome: "lost", ticket: this.#place.ticket };
    this.#keep(null);
    return state;
  }

  /** Forgets the place: it was another seller's. */
  forget() {
    this.#keep(null);
  }

  #keep(place) {
    this.#place = place;
    if (!this.#key) return;
    try {
      if (place) sessionStorage.setItem(this.#key, JSON.stringify(place));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // As above.
    }
  }
}
