const NOTHING = {
  type: "state",
  status: "idle",
  outcome: null,
  ticket: null,
  queue_position: null,
  queue_length: 0,
  estimated_wait: null,
  maximum_wait: null,
  lease_expires_at: null,
  fence: null,
  opens_at: null,
  notice: null,
  paused: false,
  claim_by: null,
  codes: null,
};

const MEMBERS = [...Object.keys(NOTHING), "room", "epoch", "version", "server_time", "unclaimed"];

/** Returns a state's own members: an answer has the session too, a secret, which no listener needs. */
function stateOf(frame) {
  const given = MEMBERS.filter((name) => frame[name] !== undefined).map((name) => [name, frame[name]]);
  return { ...NOTHING, ...Object.fromEntries(given) };
}

/** The newest known state. Frames, answers and the page itself all come in here. */
export class Store {
  #listeners = [];
  #last;
  #doubts;

  /**
   * last: the place that this tab had before, see LastPlace. doubts receives a state without the place that
   * is on show, of the same epoch; where it returns true, the state is another session's and not applied.
   */
  constructor(initial, last, doubts = () => false) {
    this.#last = last;
    this.#doubts = doubts;
    this.state = last.check(stateOf(initial ?? {}));
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  /** Applies a whole state, unless a newer one of the same epoch is already known. */
  apply(frame) {
    const same = String(frame.epoch) === String(this.state.epoch);
    if (same && frame.version < this.state.version) return false;
    if (same && frame.status === "idle" && this.state.ticket != null && this.#doubts(frame)) return false;
    const before = this.state;
    this.state = this.#last.check(stateOf(frame));
    for (const listener of this.#listeners) listener(this.state, before);
    return true;
  }

  /** Forgets everything: the next state is another seller's. */
  forget() {
    this.#last.forget();
    this.apply({ epoch: null, version: 0 });
  }

  /** Applies the answer to an action, which has a little less than a frame: an end has no ticket. */
  applyAnswer(answer, now) {
    return this.apply({
      ...answer,
      server_time: Math.round(now),
      status: STATUS[answer.status] ?? answer.status,
      fence: answer.status === "locked" ? answer.fence : null,
      ticket: answer.ticket ?? (answer.status === "ended" ? this.state.ticket : null),
      lease_expires_at: time(answer.expires_at ?? answer.lease_expires_at),
      queue_length: answer.queue_length ?? this.state.queue_length,
      opens_at: answer.opens_at === undefined ? this.state.opens_at : answer.opens_at,
      notice: answer.notice === undefined ? this.state.notice : answer.notice,
      paused: answer.paused ?? this.state.paused,
      codes: answer.status === "locked" ? this.#codes(answer) : null,
    });
  }

  /** Applies the answer to an ask, unless its lease is over by now. */
  applyExpectation({ fence, asked, open, expires_at, epoch, version }) {
    if (this.state.fence !== fence) return false;
    const codes = { asked, open, ask_after: null };
    return this.apply({ ...this.state, epoch, version, lease_expires_at: time(expires_at), codes });
  }

  /** Records that a lease may not ask before a moment, in unix ms. */
  applyBusy(fence, after) {
    if (this.state.fence !== fence || !Number.isFinite(after)) return false;
    return this.apply({ ...this.state, codes: { asked: 0, open: 0, ...this.state.codes, ask_after: after } });
  }

  /** An answer does not contain the number of asks; it is known where the lease is the same. */
  #codes({ fence, ask_after }) {
    const known = this.state.fence === fence ? this.state.codes : null;
    return { asked: 0, open: 0, ...known, ask_after: time(ask_after) };
  }

  /**
   * Applies the room's status, in which the seller's part is "me". It keeps what the status lacks: a
   * newcomer's maximum.
   */
  applyStatus(status) {
    const { me, ...room } = { ...status, opens_at: time(status.opens_at) };
    if (me) {
      const { epoch, version, opens_at, notice, paused } = room;
      return this.applyAnswer(
        { ...me, claim_by: time(me.claim_by), epoch, version, opens_at, notice, paused },
        room.server_time,
      );
    }
    const { state } = this;
    const known = String(room.epoch) === String(state.epoch) && room.version === state.version;
    const rest = { ...room, status: "idle", lease_expires_at: null };
    if (known && state.status === "idle")
      Object.assign(rest, { maximum_wait: state.maximum_wait, lease_expires_at: state.lease_expires_at });
    else if (room.expires_in != null) rest.lease_expires_at = room.server_time + room.expires_in * 1000;
    return this.apply(rest);
  }
}

const STATUS = { released: "ended", left: "ended" };

function time(value) {
  if (value == null) return null;
  return typeof value === "number" ? value : Date.parse(value);
}
