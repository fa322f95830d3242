const KEPT = 30 * 60 * 1000; // ms: how a place ended that is older nobody is told any more

/** The place that this tab had last, so that it can say so when the store has lost it and nobody else knows. */
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

  /** Takes a state that I was told, and gives it back: as lost where I have no place in an epoch that my place was not in. */
  check(state) {
    if (state.epoch == null) return state; // nobody has told it yet
    if (state.status === "waiting" || state.status === "locked") {
      this.#keep({ epoch: String(state.epoch), ticket: state.ticket, at: Date.now() });
      return state;
    }
    const lost = state.status === "idle" && this.#place && this.#place.epoch !== String(state.epoch) && Date.now() - this.#place.at < KEPT;
    if (lost) return { ...state, status: "ended", outcome: "lost", ticket: this.#place.ticket };
    this.#keep(null);
    return state;
  }

  /** It was somebody else's. */
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
