const LATE = 3000; // milliseconds from which the age of the data is worth a look
const STALE = 10000; // milliseconds from which nothing of it is to be relied on

/** How old is what the page shows: what the last beat said, and the time since anything was heard. */
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

  /** gone: the socket is. */
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
