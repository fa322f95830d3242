import http from "k6/http";
import { holds, report } from "./holds.js";
import { call } from "./http.js";
import { deskChecked, deskWrong } from "./metrics.js";
import { settings } from "./settings.js";
import { Socket } from "./socket.js";
import { sleep, until } from "./wait.js";

const KEPT = 200; // versions of the line that are remembered
const FRESH = 10000; // ms: older data is not live
const KINDS = new Set([
  "desk",
  "change",
  "items",
  "minutes",
  "replicas",
  "sources",
  "pause",
  "beat",
  "notice",
]);

/**
 * Desk plays support in a room: it watches and acts. It follows the line as support's page does,
 * and compares it with what each seller receives: at the same version both must name the same
 * position and the same holder.
 */
export class Desk {
  constructor(room) {
    Object.assign(this, {
      room,
      jar: new http.CookieJar(),
      line: [],
      holder: null,
      epoch: 0,
      version: 0,
      beats: 0,
      acts: 0,
      shown: false,
    });
    this.states = new Map(); // version → { line, fence }
    this.pending = new Map(); // version → what sellers received before the desk did
    room.desk = this;
  }

  /** open signs in and watches; it returns false if the server refused. */
  async open() {
    const [user, password] = [settings.supportUser, settings.supportPassword].map(encodeURIComponent);
    const body = `username=${user}&password=${password}`;
    const { status } = await call("sign-in", "POST", "/support/sign-in", {
      body,
      jar: this.jar,
      redirects: 0,
      headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
    });
    if (!holds("support signs in", status === 303, status)) return false;
    const cookies = this.jar.cookiesForURL(settings.base);
    const cookie = Object.entries(cookies).map(([name, values]) => `${name}=${values[0]}`).join("; ");
    this.headers = { Cookie: cookie, Origin: settings.base };
    this.socket = new Socket(
      `/api/support/${this.room.name}/ws`,
      this.headers,
      (frame) => this.observed(frame),
      KINDS,
    );
    this.socket.open();
    return holds("the desk is shown the room", await until(5000, () => this.shown), this.room.name);
  }

  observed(frame) {
    if (frame.type === "desk") this.shown = true;
    if (frame.type === "desk") this.line = frame.line.map(([ticket]) => ticket);
    if (frame.type === "change") this.change(frame);
    if (frame.type === "desk" || frame.type === "change") this.state(frame);
    if (frame.type === "beat") {
      this.beats++;
      holds("what the desk shows is fresh", frame.server_time - frame.as_of < FRESH, frame);
    }
  }

  /**
   * change brings the line to the change's version. It removes those who left and the holder, then puts each
   * place at its position.
   */
  change({ left = [], joined = [], moved = [], holder }) {
    const out = new Set([...left, ...moved].map(([ticket]) => ticket));
    if (holder) out.add(holder.ticket);
    this.line = this.line.filter((ticket) => !out.has(ticket));
    const places = joined.map(([ticket, , , position]) => [ticket, position]).concat(moved);
    for (const [ticket, position] of places.sort((a, b) => a[1] - b[1]))
      this.line.splice(position - 1, 0, ticket);
  }

  state(frame) {
    if (frame.epoch !== this.epoch) this.states.clear();
    Object.assign(this, { epoch: frame.epoch, version: frame.version, holder: frame.holder });
    this.states.set(frame.version, {
      line: this.line.slice(),
      fence: frame.holder?.fence ?? null,
      expires: frame.holder?.expires_at ?? null,
    });
    this.states.delete(frame.version - KEPT);
    for (const seen of this.pending.get(frame.version) ?? []) this.judge(frame.version, seen);
    this.pending.delete(frame.version);
    this.pending.delete(frame.version - KEPT);
  }

  /** compare checks a seller's standing against the line of the same version. */
  compare(session, s) {
    if (s.status !== "waiting" && s.status !== "locked") return;
    if (s.epoch !== this.epoch) return;
    const seen = {
      ticket: session.ticket,
      position: s.status === "waiting" ? s.position : 0,
      fence: s.fence,
    };
    if (this.states.has(s.version)) this.judge(s.version, seen);
    else if (s.version > this.version)
      this.pending.set(s.version, (this.pending.get(s.version) ?? []).concat(seen));
  }

  judge(version, { ticket, position, fence }) {
    const state = this.states.get(version);
    deskChecked.add(1);
    if (position ? state.line[position - 1] === ticket : state.fence === fence) return;
    deskWrong.add(1);
    report(`the desk of ${this.room.name} shows another line`, {
      version,
      ticket,
      position,
      fence,
      desk: state,
    });
  }

  act(action, body) {
    return call(action, "POST", `/api/support/${this.room.name}/${action}`, {
      body, jar: this.jar, patience: 0, headers: { "Idempotency-Key": crypto.randomUUID() },
    });
  }

  /** work acts now and then, until the room stops. */
  async work() {
    const actions = [() => this.extend(), () => this.move(), () => this.release(), () => this.refused()];
    for (let i = 0; !this.room.stopped; i++) {
      await sleep(this.room.random.around(this.room.plan.act));
      if (!this.room.stopped) await actions[i % actions.length]();
    }
    holds("the desk had something to do", this.acts > 0, this.acts);
    holds("the desk's heart beats", this.beats > 0, this.beats);
  }

  /** extend gives the holder two more seconds. */
  async extend() {
    const before = this.holder;
    if (!before) return;
    const { status, body } = await this.act("extend", {
      fence: before.fence,
      seconds: 2,
      reason: "load test: extend",
    });
    if (!this.done("extend", status, body, "stale_fence")) return;
    await until(2000, () => this.version >= body.version);
    const then = this.states.get(body.version);
    holds(
      "an extended lease ends later",
      !then || then.fence !== before.fence || then.expires === before.expires_at + 2000,
      { before, then },
    );
  }

  /** move puts the last waiter in front. */
  async move() {
    const ticket = this.line[this.line.length - 1];
    if (this.line.length < 2) return;
    this.room.referee.moved.add(ticket); // before the call: the frames may be faster than the answer
    const { status, body } = await this.act("move", { ticket, position: 1, reason: "load test: move" });
    if (!this.done("move", status, body, "stale_ticket")) return;
    await until(2000, () => this.version >= body.version);
    const then = this.states.get(body.version);
    holds("the moved seller is first", !then || then.line[0] === ticket, { ticket, then });
  }

  /** release ends the holder's lease. */
  async release() {
    const holder = this.holder;
    if (!holder) return;
    this.room.forced.add(holder.fence);
    const { status, body } = await this.act("release", { fence: holder.fence, reason: "load test: release" });
    this.done("release", status, body, "stale_fence");
  }

  /** refused checks that an action without a reason, or on an old fence, is refused. */
  async refused() {
    const fence = this.holder?.fence;
    if (!fence) return;
    const { status, body } = await this.act("release", { fence });
    holds("an action needs a reason", status === 400 && body?.code === "invalid_reason", { status, body });
    const stale = await this.act("release", { fence: fence - 1, reason: "load test: a stale fence" });
    holds("a stale fence ends nothing", stale.status === 409 && stale.body?.code === "stale_fence", stale);
  }

  /** done returns whether an action was done. An action that came too late must be refused as such. */
  done(action, status, body, late) {
    const ok = holds(
      `support's ${action} is done or too late`,
      status === 200 || (status === 409 && body?.code === late),
      { status, body },
    );
    if (status === 200) this.acts++;
    return ok && status === 200;
  }

  close() {
    this.socket?.close();
  }
}
