import { holds } from "./holds.js";
import { canSend, send } from "./carrier.js";
import { Referee } from "./checks.js";
import { codeMs, handoffMs, handoffs } from "./metrics.js";
import { Random } from "./random.js";
import { Session } from "./session.js";
import { settings } from "./settings.js";
import { sleep, until } from "./wait.js";

const SHORT_LEASE = 15000; // ms: only a lease this short is ever left to expire
const CODE_WITHIN = 5000; // ms within which a code must reach its holder's page

/** How often a holder ends its turn in each way. */
const ENDINGS = { code: 50, done: 33, cancel: 16, expire: 1 };

/** The outcomes that each ending may have. */
const OUTCOMES = {
  code: ["completed"],
  done: ["completed"],
  cancel: ["cancelled"],
  expire: ["expired"],
  leave: ["cancelled"],
};

/** Room is one room with all its sellers; one VU plays it. */
export class Room {
  constructor(run, plan) {
    const number = __VU;
    this.plan = plan;
    this.fresh = settings.rooms.length === 0;
    this.name = this.fresh
      ? `${settings.prefix}:${run.id}:${number}`
      : settings.rooms[(number - 1) % settings.rooms.length];
    this.random = new Random(settings.seed * 1000 + number);
    this.referee = new Referee(this.name);
    this.label = `${run.id}-${number}`;
    this.sessions = new Set(); // not settled yet
    this.count = 0;
    this.messages = 0;
    this.released = 0; // when the release of the current lease was sent
    this.forced = new Set(); // fences that support released
    this.stopped = false;
    this.desk = null;
  }

  /** add lets one seller come; the promise resolves when its place is over. */
  add() {
    const endings = canSend ? ENDINGS : Object.assign({}, ENDINGS, { code: 0 });
    return new Promise((done) => {
      const session = new Session(this, `load-${this.label}-${++this.count}`, (s, standing) =>
        this.changed(s, standing),
      );
      Object.assign(session, {
        done,
        ending: "",
        plans: this.random.pick(endings),
        leaves: this.random.next() < this.plan.leave,
      });
      this.sessions.add(session);
      session.join().then((ok) => (ok ? this.habit(session) : this.over(session)));
    });
  }

  /** habit makes some sellers press again, some reload, and some open a second tab. */
  habit(session) {
    const at = this.random.next();
    if (at < 0.05) session.join();
    else if (at < 0.1) session.tabs[0].drop();
    else if (at < 0.13 && !session.over) session.open();
  }

  /** crowd keeps this many sellers in the room: as one goes, another comes. */
  async crowd(sellers) {
    const one = async () => {
      await sleep(this.random.next() * 1000); // not all in the same millisecond
      while (!this.stopped) await this.add();
    };
    await Promise.all(Array.from({ length: sellers }, one));
  }

  /** rush lets this many sellers come within ms. */
  rush(sellers, ms) {
    return Promise.all(
      Array.from({ length: sellers }, () => sleep(this.random.next() * ms).then(() => this.add())),
    );
  }

  changed(session, s) {
    if (this.desk) this.desk.compare(session, s);
    if (s.status === "ended") this.over(session);
    if (s.status === "waiting" && session.leaves && !session.ending) this.impatient(session);
    if (s.status === "locked") {
      session.expires = s.expires;
      if (session.fence !== s.fence) this.granted(session, s);
    }
  }

  /** impatient lets a waiter leave the line after a while. */
  impatient(session) {
    session.ending = "leave";
    setTimeout(() => {
      if (session.over) return;
      if (session.fence) return this.turn(session); // its turn came first
      session.leave("cancelled");
    }, this.random.around(this.plan.hold * 2));
  }

  granted(session, s) {
    session.fence = s.fence;
    if (session.position !== null) {
      handoffs.add(1);
      if (this.released) handoffMs.add(Date.now() - this.released);
    }
    this.released = 0;
    if (session.ending !== "leave") this.turn(session);
  }

  /** turn plays a turn: the holder asks, finishes or cancels, and ends its lease in one of these ways. */
  async turn(session) {
    let plan = session.plans;
    if (plan === "expire" && session.expires - Date.now() > SHORT_LEASE) plan = "done";
    session.ending = plan;
    await sleep(this.random.around(this.plan.hold));
    if (session.over || session.settling || plan === "expire") return;
    if (plan === "code") return this.code(session);
    this.release(session, plan === "done" ? "completed" : "cancelled");
  }

  release(session, reason) {
    this.released = Date.now();
    return session.leave(reason, session.fence);
  }

  /** code asks for a code; the carrier delivers it, which ends the lease. */
  async code(session) {
    const id = `${this.label}-${++this.messages}`;
    if (!(await session.expect(id)))
      return session.over || session.settling || this.release(session, "cancelled");
    const code = String(100000 + Math.floor(this.random.next() * 900000));
    const began = (this.released = Date.now());
    const { status, body } = await send(this.name, id, code);
    const forced = this.forced.has(session.fence) || session.settling;
    const mine =
      status === 200 &&
      body?.result === "matched" &&
      body.ticket === session.ticket &&
      body.fence === session.fence;
    if (
      !holds("a code is matched to the lease that asked for it", mine || forced, {
        status,
        body,
        ticket: session.ticket,
        fence: session.fence,
      })
    ) {
      return session.over || this.release(session, "cancelled");
    }
    const shown = await until(CODE_WITHIN, () => session.codes.has(id) || forced);
    if (shown && !forced) codeMs.add(Date.now() - began);
    holds("its holder is shown the code", shown && (forced || session.codes.get(id) === code), {
      ticket: session.ticket,
      shown,
    });
  }

  /** over closes a session's sockets a moment later, so that a code can still come. */
  over(session) {
    if (!this.sessions.delete(session)) return;
    if (session.over) {
      const allowed = (OUTCOMES[session.ending] ?? ["cancelled"]).concat(
        this.forced.has(session.fence) ? "forced" : [],
        this.plan.faults ? "expired" : [],
      );
      holds("the outcome is what was done", allowed.includes(session.over), {
        ticket: session.ticket,
        ending: session.ending,
        over: session.over,
      });
    }
    const wait = session.ending === "code" ? CODE_WITHIN : 300;
    until(wait, () => session.ending === "code" && session.codes.size > 0).then(() => session.close());
    session.done();
  }

  /** settle asks how each remaining session stands, and judges the room. */
  async settle() {
    this.stopped = true;
    const one = async (session) => {
      Object.assign(session, { ending: "leave", settling: true });
      await session.settle();
      this.over(session);
      session.close();
    };
    await Promise.all([...this.sessions].map(one));
    this.referee.close(this.fresh);
  }
}
