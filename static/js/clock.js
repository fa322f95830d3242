const KEPT = 5;
const JUMP = 2000; // milliseconds: more than any network makes of it that works
const STALL = 20000; // milliseconds: all that one stall held up is read within that

/** The server's time, from what its frames said; until there was one, this machine's. */
export class ServerClock {
  #offsets = [];
  #said = -Infinity; // what the last frame said
  #apart = 0; // this machine's clock and local, when a frame was believed last
  #late = null; // the first of the frames that seem to be late: {offset, read}

  /** local goes on whatever this machine's clock is set to, but may stand still in a sleep; machine is that clock. */
  constructor(local = () => performance.now(), machine = () => Date.now()) {
    Object.assign(this, { local, machine });
  }

  /**
   * A frame is always late, so the largest offset is the truest. One far below it was held up, which is no reason to
   * show time that is not there, or else the server's clock was set back.
   */
  observe(serverTime) {
    if (!Number.isFinite(serverTime)) return;
    const read = this.local();
    const offset = serverTime - read;
    const back = serverTime < this.#said - JUMP; // frames come in their order: one that is merely late says no less than the one before
    this.#said = serverTime;
    if (this.#best() - offset > JUMP) {
      if (!back && !this.#agree({ offset, read })) return;
      this.#offsets = [];
    }
    this.#late = null;
    this.#apart = this.machine() - read;
    this.#offsets.push(offset);
    if (this.#offsets.length > KEPT) this.#offsets.shift();
  }

  now() {
    return this.#offsets.length > 0 ? this.local() + this.#best() + this.#slept() : this.machine();
  }

  #best() {
    return Math.max(...this.#offsets);
  }

  /** What local missed. It may be that this machine's clock was set ahead: the next frame says so, and till then no code is shown for too long. */
  #slept() {
    const slept = this.machine() - this.local() - this.#apart;
    return slept > JUMP ? slept : 0;
  }

  /**
   * Whether a second frame in a row says the same. What one stall held up is read together: a frame counts as a second one where it
   * is read as long after the first as that was late, and so was written when the stall was over.
   */
  #agree(frame) {
    const first = this.#late;
    if (first && Math.abs(frame.offset - first.offset) <= JUMP) return frame.read - first.read >= Math.min(this.#best() - first.offset, STALL);
    this.#late = frame;
    return false;
  }
}
