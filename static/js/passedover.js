/** Finds out that others went before a seller who was away. The server does not tell it: the place is as it was. */
export class PassedOver {
  #heard = Infinity; // when the server was heard last
  #last = null; // the last state before the connection was gone, and when the server was heard last then

  constructor({ server, leaseSeconds, awaySeconds }) {
    Object.assign(this, { server, lease: leaseSeconds * 1000, away: awaySeconds * 1000 });
  }

  /** The connection is gone, with that state on show: since when nobody knows, but not for longer than nothing was heard. */
  gone(state) {
    this.#last ??= { state, at: Math.min(this.#heard, this.server.now()) };
  }

  /** The server has said something. */
  heard() {
    this.#heard = this.server.now();
  }

  /** The first state after that: whether it was first in line before, is so still, and somebody else was granted the lock meanwhile. */
  back(state) {
    const last = this.#last;
    this.#last = null;
    if (!last || this.away === 0 || this.server.now() - last.at < this.away) return false;
    const first = (s) => s.status === "waiting" && s.queue_position === 1 && s.lease_expires_at != null;
    const same = last.state.ticket === state.ticket && String(last.state.epoch) === String(state.epoch);
    if (!same || !first(last.state) || !first(state)) return false;
    const longer = state.lease_expires_at - last.state.lease_expires_at;
    const extended = longer % 1000 === 0; // support gives whole seconds to the same turn
    return !extended && state.lease_expires_at - this.lease > last.at;
  }
}
