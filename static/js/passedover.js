/**
 * Finds out that others went before a seller who was away. The server does not report
 * it: the place is as it was.
 */
export class PassedOver {
  #heard = Infinity; // the last time a frame came
  #last = null; // the last state before the connection was lost, and the last frame's time then

  constructor({ server, leaseSeconds, awaySeconds }) {
    Object.assign(this, { server, lease: leaseSeconds * 1000, away: awaySeconds * 1000 });
  }

  /** The connection is lost, with this state on show. The break began at some time after the last frame. */
  gone(state) {
    this.#last ??= { state, at: Math.min(this.#heard, this.server.now()) };
  }

  /** A frame has come. */
  heard() {
    this.#heard = this.server.now();
  }

  /**
   * Takes the first state after the break. Returns whether another seller got the lock while this one was and
   * stayed first in line.
   */
  back(state) {
    const last = this.#last;
    this.#last = null;
    if (!last || this.away === 0 || this.server.now() - last.at < this.away) return false;
    const first = (s) => s.status === "waiting" && s.queue_position === 1 && s.lease_expires_at != null;
    const same = last.state.ticket === state.ticket && String(last.state.epoch) === String(state.epoch);
    if (!same || !first(last.state) || !first(state)) return false;
    const longer = state.lease_expires_at - last.state.lease_expires_at;
    const extended = longer % 1000 === 0; // support extends the same turn by whole seconds
    return !extended && state.lease_expires_at - this.lease > last.at;
  }
}
