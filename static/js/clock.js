const KEPT = 5;
const JUMP = 2000; // milliseconds: more than the delay of any working network
const STALL = 20000; // milliseconds: all frames that one stall held up are read within that

/** The server's time, by its frames; before the first frame, this machine's. */
export class ServerClock {
  #offsets = [];
  #newest = -Infinity; // the last frame's time
  #apart = 0; // this machine's clock minus local, at the last trusted frame
  #late = null; // the first of the frames that seem late: {offset, read}

  /**
   * local runs on whatever this machine's clock is set to, but may stop during a
   * sleep; machine is that clock.
   */
  constructor(local = () => performance.now(), machine = () => Date.now()) {
    Object.assign(this, { local, machine });
  }

  /**
   * Takes a frame's time. A frame is always late, so the largest offset is the truest. One far below it was
   * held up, and must not show more time than is left, or else the server's clock was set back.
   */
  observe(serverTime) {
    if (!Number.isFinite(serverTime)) return;
    const read = this.local();
    const offset = serverTime - read;
    // frames come in order: a late one's time is not before the previous one's
    const back = serverTime < this.#newest - JUMP;
    this.#newest = serverTime;
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

  /** Returns a moment of the server's clock by this machine's, which the seller has before them. */
  here(moment) {
    return new Date(this.machine() + moment - this.now());
  }

  #best() {
    return Math.max(...this.#offsets);
  }

  /**
   * Returns how much time local missed. If this machine's clock was set ahead, the next frame corrects it;
   * till then codes disappear early, never late.
   */
  #slept() {
    const slept = this.machine() - this.local() - this.#apart;
    return slept > JUMP ? slept : 0;
  }

  /**
   * Returns whether a second late frame in a row agrees. Frames of one stall are read together: a frame
   * counts as a second one only if it is read as long after the first as that was late, and so was written
   * after the stall.
   */
  #agree(frame) {
    const first = this.#late;
    if (first && Math.abs(frame.offset - first.offset) <= JUMP)
      return frame.read - first.read >= Math.min(this.#best() - first.offset, STALL);
    this.#late = frame;
    return false;
  }
}
