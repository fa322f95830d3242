/** One state of a room's line, from a full frame and the changes after it. It does not touch the page. */
class Line {
  constructor(frame) {
    this.rows = frame.line.map(([ticket, seller, joined, away]) => ({ ticket, seller, joined, away }));
    this.byTicket = new Map(this.rows.map((row) => [row.ticket, row]));
    this.#head(frame);
  }

  /** Applies a change wholly or not at all; returns false if it does not fit this state. */
  change(frame) {
    const { left = [], joined = [], moved = [], away = [], holder } = frame;
    if (!this.#fits(left, joined, moved, away, holder)) return false;
    const gone = left.map(([ticket]) => this.byTicket.get(ticket)).concat(this.byTicket.get(holder?.ticket));
    const again = moved.map(([ticket, position]) => ({ row: this.byTicket.get(ticket), position }));
    const fresh = joined.map(([ticket, seller, at, position]) => ({
      row: { ticket, seller, joined: at, away: 0 },
      position,
    }));
    this.#take(
      gone,
      again.map(({ row }) => row),
    );
    this.#put([...again, ...fresh]);
    for (const [ticket, since] of away) {
      const row = this.byTicket.get(ticket);
      if (row) row.away = since;
    }
    this.#head(frame);
    return true;
  }

  #head({ epoch, version, paused, opens_at: opensAt = null, support = null, hold, holder }) {
    Object.assign(this, { epoch, version, paused, opensAt, support, hold, holder: holder ?? null });
  }

  /**
   * Tickets of left may be the former holder's, of away the new one's. Every other has to be
   * known, and every new one new.
   */
  #fits(left, joined, moved, away, holder) {
    const known = (ticket) => this.byTicket.has(ticket);
    const news = new Set(joined.map(([ticket]) => ticket));
    const gone = new Set(left.map(([ticket]) => ticket).filter(known));
    if (known(holder?.ticket)) gone.add(holder.ticket);
    const size = this.rows.length - gone.size + news.size;
    const places = joined.map(([, , , position]) => position).concat(moved.map(([, position]) => position));
    return (
      left.every(([ticket]) => known(ticket) || ticket === this.holder?.ticket) &&
      joined.every(([ticket]) => !known(ticket) || gone.has(ticket)) &&
      moved.every(([ticket]) => known(ticket) && !gone.has(ticket)) &&
      away.every(([ticket]) => known(ticket) || news.has(ticket) || ticket === holder?.ticket) &&
      places.every((position) => position >= 1 && position <= size)
    );
  }

  #take(gone, moved) {
    const out = new Set([...gone, ...moved]);
    out.delete(undefined);
    if (out.size === 0) return;
    for (const row of gone) if (row) this.byTicket.delete(row.ticket);
    this.rows = this.rows.filter((row) => !out.has(row));
  }

  /** Positions are those after the change, so the foremost goes in first. */
  #put(places) {
    for (const { row, position } of places.sort((a, b) => a.position - b.position)) {
      this.rows.splice(position - 1, 0, row);
      this.byTicket.set(row.ticket, row);
    }
  }
}

const NOTHING = { epoch: "", version: -1, paused: false, hold: 0, holder: null, line: [] };

/**
 * The known state of a room. apply takes frames; versions never go back within an epoch: a full state older
 * than the shown one waits until changes have brought it up to that.
 */
export class DeskModel {
  #shown = new Line(NOTHING);
  #latest = null;

  /** Returns "changed", "old" (nothing to show), or "gap": only a full frame can help. */
  apply(frame) {
    if (frame.type === "desk") this.#latest = new Line(frame);
    else if (!this.#latest || frame.epoch !== this.#latest.epoch) return "gap";
    else if (frame.version < this.#latest.version) return "old";
    else if (!this.#latest.change(frame)) return "gap";
    const older = this.#latest.epoch === this.#shown.epoch && this.#latest.version < this.#shown.version;
    if (older) return "old";
    this.#shown = this.#latest;
    return "changed";
  }

  get epoch() { return this.#shown.epoch; }
  get version() { return this.#shown.version; }
  get paused() { return this.#shown.paused; }
  /** Returns when a closed room opens, in unix ms; null while it is open. */
  get opensAt() { return this.#shown.opensAt; }
  get closed() { return this.opensAt != null; }

  /** Returns what support has set for the whole room, each part until a time; null for nothing. */
  get support() { return this.#shown.support; }
  get hold() { return this.#shown.hold; }
  get holder() { return this.#shown.holder; }
  get line() { return this.#shown.rows; }

  find(ticket) {
    return this.#shown.byTicket.get(ticket);
  }

  /** Returns the place in the line, 1 = next; 0 for a ticket outside it. */
  position(ticket) {
    const row = this.find(ticket);
    return row ? this.line.indexOf(row) + 1 : 0;
  }

  /** The next ticket to get the lock: tickets away are passed over. */
  get next() {
    return this.line.find((row) => row.away === 0);
  }

  get away() {
    return this.line.reduce((count, row) => count + (row.away > 0 ? 1 : 0), 0);
  }
}
