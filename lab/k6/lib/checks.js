import { report } from "./holds.js";
import { lostPlaces, overtaken, twoHolders } from "./metrics.js";
import { settings } from "./settings.js";

const NEIGHBOURS = 4; // how many earlier leases each lease is compared with
const AWAY_MARGIN = 5000; // ms: a session away for nearly the server's AWAY_AFTER may have been passed over

/**
 * Referee receives every answer and frame of one room's sessions, and judges them. One VU plays one room, so
 * it misses nothing: VUs share no memory. It trusts versions and fences before times: a frame may be late,
 * but within an epoch a version names one state of the room.
 *
 * A standing is { epoch, version, status, ticket, position, fence, at, expires, granted }: what an answer or
 * a frame contains about a session, times in unix ms of Redis's clock, null for what it does not contain.
 */
export class Referee {
  constructor(room) {
    this.room = room;
    this.epoch = 0;
    this.found = { two: 0, overtaken: 0, lost: 0 };
    this.forget();
  }

  forget() {
    this.leases = []; // by fence
    this.byFence = new Map();
    this.byVersion = new Map(); // version → fence
    this.tickets = new Map(); // ticket → session
    this.peak = null; // the lease with the highest ticket that was granted in line order
    this.moved = new Set(); // tickets that support moved: the line's order proves nothing about them
  }

  /**
   * observed records a standing that a session received. gone is how long (ms) its browser
   * had no connection before.
   */
  observed(session, s, gone = 0) {
    if (s.epoch < this.epoch) return;
    if (s.epoch > this.epoch) {
      this.epoch = s.epoch;
      this.forget();
    }
    if (gone > settings.awayAfter * 1000 - AWAY_MARGIN) session.pardon = this.highest();
    if (s.status === "waiting" || s.status === "locked") this.ticket(session, s);
    if (s.status === "locked") this.locked(session, s);
    if (s.status === "waiting") this.waiting(session, s.ticket, s.version, 0);
    if (s.status === "idle") this.idle(session, s);
    if (s.status === "ended") this.ended(session, s);
  }

  ticket(session, s) {
    const owner = this.tickets.get(s.ticket);
    if (owner && owner !== session) this.lost(session, "a ticket of two sessions", s);
    this.tickets.set(s.ticket, session);
    if (session.ticket !== null && session.ticket !== s.ticket)
      this.lost(session, `ticket ${session.ticket} became another`, s);
    session.ticket = s.ticket;
    session.known = Math.max(session.known, s.version);
  }

  locked(session, s) {
    const lease = this.lease(session, s);
    lease.first = Math.min(lease.first, s.version);
    lease.last = Math.max(lease.last, s.version);
    lease.from = Math.min(lease.from, s.granted ?? s.at ?? Infinity);
    lease.expires = Math.max(lease.expires, s.expires ?? 0);
    lease.until = Math.max(lease.until, Math.min(s.at ?? 0, lease.expires));
    const other = this.byVersion.get(s.version);
    if (other !== undefined && other !== s.fence)
      this.two(lease, this.byFence.get(other), `both at version ${s.version}`);
    this.byVersion.set(s.version, s.fence);
    this.compare(lease);
    this.waiting(session, s.ticket, s.version, s.fence);
    if (!this.moved.has(s.ticket) && (!this.peak || s.ticket > this.peak.ticket)) this.peak = lease;
  }

  lease(session, s) {
    let lease = this.byFence.get(s.fence);
    if (!lease) {
      lease = {
        fence: s.fence,
        session,
        ticket: s.ticket,
        first: Infinity,
        last: 0,
        from: Infinity,
        until: 0,
        expires: 0,
        over: "",
        reported: false,
      };
      this.byFence.set(s.fence, lease);
      this.leases.push(lease);
      for (let i = this.leases.length - 1; i > 0 && this.leases[i - 1].fence > lease.fence; i--) {
        [this.leases[i - 1], this.leases[i]] = [this.leases[i], this.leases[i - 1]];
      }
    }
    if (lease.session !== session)
      this.two(lease, { fence: s.fence, ticket: s.ticket }, "one fence, two sessions");
    return lease;
  }

  /** compare checks a lease against its neighbours: the lower fence must end before the higher one begins. */
  compare(lease) {
    const at = this.leases.lastIndexOf(lease);
    for (let i = Math.max(0, at - NEIGHBOURS); i < Math.min(this.leases.length, at + NEIGHBOURS); i++) {
      const [older, newer] = i < at ? [this.leases[i], lease] : [lease, this.leases[i]];
      if (older === newer) continue;
      if (older.last >= newer.first) this.two(older, newer, "locked at a version at which the next one held");
      if (older.until - newer.from > settings.clockSlack)
        this.two(older, newer, "locked at overlapping server times");
    }
  }

  two(a, b, why) {
    if (a.reported && b.reported) return;
    a.reported = b.reported = true;
    this.found.two++;
    twoHolders.add(1);
    report(
      `two holders in ${this.room}`,
      `${why}: ticket ${a.ticket} fence ${a.fence} until ${a.until}, ` +
        `ticket ${b.ticket} fence ${b.fence} from ${b.from}`,
    );
  }

  /**
   * waiting checks that no later ticket had the lock before this one. It goes by version while the ticket
   * waits, by fence once it holds.
   */
  waiting(session, ticket, version, fence) {
    const p = this.peak;
    if (!p || p.ticket <= ticket || p.ticket <= session.pardon || this.moved.has(ticket) || session.overtaken)
      return;
    if (fence ? p.fence > fence : p.first > version) return;
    session.overtaken = true;
    this.found.overtaken++;
    overtaken.add(1);
    report(
      `overtaken in ${this.room}`,
      `ticket ${p.ticket} (fence ${p.fence}, version ${p.first}) before ticket ${ticket} ` +
        (fence ? `(fence ${fence})` : `(waiting at version ${version})`),
    );
  }

  idle(session, s) {
    if (session.ticket !== null && !session.over && s.version >= session.known)
      this.lost(session, "a frame without its place", s);
  }

  ended(session, s) {
    if (session.ticket === null || s.ticket !== null && s.ticket !== session.ticket) return;
    if (s.outcome === "lost") this.lost(session, "a frame with a lost place", s);
    this.done(session, s.outcome);
  }

  /** done records that a session's place is over, and so its lease. */
  done(session, outcome) {
    for (let i = this.leases.length - 1; i >= 0; i--) {
      if (this.leases[i].session !== session) continue;
      this.leases[i].over = outcome;
      return;
    }
  }

  /** lost records a vanished place, once for a session. */
  lost(session, why, s) {
    if (session.missing) return;
    session.missing = true;
    this.found.lost++;
    lostPlaces.add(1);
    report(`lost place in ${this.room}`, `ticket ${session.ticket}: ${why} ${JSON.stringify(s ?? "")}`);
  }

  highest() {
    let most = 0;
    for (const ticket of this.tickets.keys()) most = Math.max(most, ticket);
    return most;
  }

  /**
   * close checks what only the end shows. fresh: the room is this run's own, so all its tickets are known.
   */
  close(fresh) {
    for (let i = 0; i + 1 < this.leases.length; i++) {
      const [lease, next] = [this.leases[i], this.leases[i + 1]];
      if (!lease.over && next.from < lease.expires - settings.clockSlack)
        this.two(lease, next, "granted while a lease ran without an end");
    }
    if (!fresh) return;
    const most = this.highest();
    if (most > this.tickets.size) {
      this.found.lost += most - this.tickets.size;
      lostPlaces.add(most - this.tickets.size);
      report(`lost place in ${this.room}`, `${most} tickets were given, ${this.tickets.size} were seen`);
    }
  }
}
