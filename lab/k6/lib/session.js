import { holds } from "./holds.js";
import { call } from "./http.js";
import { joined, joinMs, over } from "./metrics.js";
import { Socket } from "./socket.js";
import { until } from "./wait.js";

const SHOWN_WITHIN = 5000; // ms for a socket to show what a refused call reported, a reconnect included

const time = (text) => (text ? Date.parse(text) : null);

/** Session is one seller's browser in one room: its place, its socket, and every call it makes. */
export class Session {
  /** changed(session, standing) is called with every standing received, after the room's referee has it. */
  constructor(room, seller, changed) {
    Object.assign(this, {
      room,
      seller,
      changed,
      id: crypto.randomUUID(),
      ticket: null,
      known: 0,
      pardon: 0,
      position: null,
    });
    Object.assign(this, {
      fence: null,
      expires: 0,
      over: "",
      missing: false,
      overtaken: false,
      settling: false,
      codes: new Map(),
      tabs: [],
    });
    this.headers = { "X-Session-ID": this.id };
    this.path = `/api/${room.name}/lock`;
    this.open();
  }

  /** open opens one more tab. */
  open() {
    const tab = new Socket(`/api/${this.room.name}/ws`, this.headers, (frame, gone) =>
      this.observed(frame, gone),
    );
    this.tabs.push(tab);
    tab.open();
  }

  observed(frame, gone) {
    if (frame.type === "sms") this.codes.set(frame.message_id, frame.code);
    if (frame.type !== "state") return;
    this.stands(
      {
        epoch: frame.epoch,
        version: frame.version,
        status: frame.status,
        outcome: frame.outcome,
        ticket: frame.ticket,
        position: frame.queue_position,
        fence: frame.fence,
        at: frame.server_time,
        expires: frame.lease_expires_at,
        granted: null,
      },
      gone,
    );
  }

  /** answered records the standing in an HTTP answer. */
  answered(body) {
    this.stands(
      {
        epoch: body.epoch,
        version: body.version,
        status: body.status,
        outcome: body.outcome ?? null,
        ticket: body.ticket ?? null,
        position: body.queue_position ?? null,
        fence: body.fence ?? null,
        at: time(body.granted_at),
        expires: time(body.expires_at ?? body.lease_expires_at),
        granted: time(body.granted_at),
      },
      0,
    );
  }

  stands(s, gone) {
    this.room.referee.observed(this, s, gone);
    if (s.status === "waiting") {
      this.position = s.position;
      if (!(s.position >= 1)) holds("a waiting session has a position", false, s);
    }
    if (s.status === "ended" && this.ticket !== null) this.ends(s.outcome);
    if (!this.over) this.changed(this, s);
  }

  ends(outcome) {
    if (this.over) return;
    this.over = outcome;
    over.add(1);
    this.changed(this, { status: "ended", outcome });
  }

  /** join presses 준비 완료; a second press must return the same ticket. */
  async join() {
    const before = this.ticket;
    const began = Date.now();
    const { status, body } = await call("join", "POST", this.path, {
      headers: this.headers,
      body: { seller_id: this.seller, asks: true },
    });
    if (before === null) joinMs.add(Date.now() - began);
    const ok = holds(
      "join is answered with a place",
      (status === 200 || status === 202) && body?.ticket > 0,
      { status, body },
    );
    if (!ok) return false;
    if (before === null) joined.add(1);
    else
      holds("pressing again is the same place", body.ticket === before || this.over !== "", { before, body });
    if (!this.over) this.answered(body);
    return true;
  }

  /** leave gives the place up, or ends the lease. */
  async leave(reason, fence, patience) {
    const query = fence ? `?reason=${reason}&fence=${fence}` : `?reason=${reason}`;
    const { status, body, tries } = await call("leave", "DELETE", this.path + query, {
      headers: this.headers,
      patience,
    });
    if (status === 200) {
      holds("leaving names the own ticket", body.ticket === this.ticket, { ticket: this.ticket, body });
      if (body.fence) this.room.referee.done(this, body.outcome);
      this.ends(body.outcome);
      return true;
    }
    // A repeat of a call with a lost answer finds nothing to end. The lease's own end may also have been
    // faster: then the socket shows it.
    const faster = status === 404 && (await until(SHOWN_WITHIN, () => this.over !== ""));
    return holds("a place can be given up", faster || this.over !== "", {
      status,
      body,
      ticket: this.ticket,
      fence,
    });
  }

  /** expect records that the seller is about to ask for a code. */
  async expect(key) {
    const headers = Object.assign({ "Idempotency-Key": key }, this.headers);
    const { status, body } = await call("expect", "POST", `${this.path}/expect`, {
      headers,
      body: { fence: this.fence },
    });
    return (
      holds("the holder may ask for a code", status === 200 || this.over !== "" || this.settling, {
        status,
        body,
      }) && status === 200
    );
  }

  /** standing asks how the session stands; null if no server answered. */
  async standing() {
    const { status, body } = await call("status", "GET", `${this.path}/status`, {
      headers: this.headers,
      patience: 5000,
    });
    return status === 200 ? body : null;
  }

  /** settle finds out at the end whether the place is over, live or lost. */
  async settle() {
    if (this.ticket === null) return;
    if (!this.over) {
      const all = await this.standing();
      const me = all?.me;
      if (!all) holds("the room answers how a session stands", false, this.ticket);
      else if (me?.status === "ended") this.ends(me.outcome);
      else if (!me || me.ticket !== this.ticket)
        this.room.referee.lost(this, "the room does not know it", all);
      else if (me.status === "waiting" && all.status === "free" && !all.paused)
        this.room.referee.lost(this, "it waits for a free lock", all);
      else await this.leave("cancelled", null, 5000);
    }
    if (this.over === "lost") this.room.referee.lost(this, "its outcome is lost");
    if (this.over) this.room.referee.done(this, this.over);
  }

  close() {
    for (const tab of this.tabs) tab.close();
  }
}
