const LATE = 3000; // milliseconds from which the page shows the data's age
const STALE = 10000; // milliseconds from which the data is not to be relied on

/** The age of the page's data: the last heartbeat's, plus the time since the last frame. */
export class Freshness {
  #lag = 0;
  #heard;
  #gone = false;

  constructor(local = () => performance.now()) {
    this.local = local;
    this.#heard = local();
  }

  hear(frame) {
    this.#heard = this.local();
    if (frame.type === "beat") this.#lag = Math.max(frame.server_time - frame.as_of, 0);
  }

  /** gone: the socket is lost. */
  connection(gone) {
    this.#gone = gone;
  }

  /** In milliseconds. */
  get age() {
    return this.#lag + this.local() - this.#heard;
  }

  /** "fresh", "late", "stale" or "lost". */
  get state() {
    if (this.#gone) return "lost";
    if (this.age >= STALE) return "stale";
    return this.age >= LATE ? "late" : "fresh";
  }
}
