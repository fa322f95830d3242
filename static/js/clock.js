const KEPT = 5;
const JUMP = 2000; // milliseconds: more than any network makes of it

/** The server's time, from what its frames said. */
export class ServerClock {
  #offsets = [];

  constructor(local = Date.now) {
    this.local = local;
  }

  /**
   * A frame is always late, so the largest offset is the truest. One that is far off the
   * others means that this machine's clock was set, and starts over.
   */
  observe(serverTime) {
    if (!Number.isFinite(serverTime)) return;
    const offset = serverTime - this.local();
    if (this.#offsets.length > 0 && Math.abs(offset - this.#best()) > JUMP) this.#offsets = [];
    this.#offsets.push(offset);
    if (this.#offsets.length > KEPT) this.#offsets.shift();
  }

  now() {
    return this.local() + (this.#offsets.length > 0 ? this.#best() : 0);
  }

  #best() {
    return Math.max(...this.#offsets);
  }
}
