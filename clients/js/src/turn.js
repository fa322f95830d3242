import { backoff } from "../../../static/js/backoff.js";
import { freshKey } from "../../../static/js/http.js";
import { RoomSocket } from "../../../static/js/socket.js";

const CALL = 60000; // milliseconds: longer than the longest wait for a message
const WAIT = 25; // seconds that the server lets a call wait for a message
const POLL = 1000; // milliseconds, where no socket comes through
const AFTER = 60; // seconds of a Retry-After, at most
const BLOCKED = 2; // so many sockets in a row that were lost before a word came: none comes through

/** A refusal by the server. code is stable, such as "seller_has_place". */
export class Refused extends Error {
  constructor(status, code, detail) {
    super(detail || `waitroom answered ${status} ${code}`);
    Object.assign(this, { name: "Refused", status, code });
  }
}

/** The place is over; outcome says how, such as "expired". */
export class Ended extends Error {
  constructor(outcome) {
    super(`the turn is over: ${outcome}`);
    Object.assign(this, { name: "Ended", outcome });
  }
}

/**
 * Joins a room for a seller. The types are in waitroom.d.ts.
 * @example
 * const turn = await join("https://waitroom.example", "integration", "s-1");
 * await turn.wait();
 * const { code } = await turn.code({ from: ["15881234"], ask: pressSendCode });
 * await enter(code);
 * await turn.done();
 */
export async function join(server, room, seller, { session, mayWait = true, headers, signal } = {}) {
  const turn = new Turn(server, room, session ?? freshKey(), headers);
  const path = mayWait ? "/lock" : "/lock?wait=false";
  turn.observe(await turn.call("POST", path, { body: { seller_id: seller, asks: true }, signal }));
  return turn;
}

/** Goes on with the place of a session that joined before. */
export async function resume(server, room, session, { headers, signal } = {}) {
  const turn = new Turn(server, room, session, headers);
  await turn.look(signal);
  return turn;
}

/** A seller's place in a room. Every call is repeated until the server answers, or until signal. */
export class Turn {
  #base;
  #headers;
  #session;
  #fence = null; // of the last lease
  #taken = new Set(); // messages whose codes were returned

  constructor(server, room, session, headers = {}) {
    if (!/^https?:\/\//.test(server)) throw new TypeError("want a server such as https://waitroom.example");
    this.#base = `${new URL(server).href.replace(/\/$/, "")}/api/${encodeURIComponent(room)}`;
    this.#headers = headers;
    this.#session = session;
    this.state = { status: "waiting" };
  }

  /** The secret that names the place; what prints a turn does not print it. */
  get session() {
    return this.#session;
  }

  /** Resolves once the lock is the seller's; rejects with Ended where the place is over before. */
  async wait({ signal, onState = () => {} } = {}) {
    const seen = (state) => (onState(state), state);
    let state = seen(await this.look(signal));
    const socket = new Follower(this, signal);
    try {
      while (state.status === "waiting" || state.claim_by) {
        if (state.claim_by || state.unclaimed) state = await this.#claim(state, signal);
        else state = await socket.next();
        seen(state);
      }
    } finally {
      socket.close();
    }
    if (state.status === "ended") throw new Ended(state.outcome);
  }

  /**
   * Asks for a code and returns the message. ask has the marketplace send it: it is called once the number is
   * free for that. late: so many milliseconds a code is waited for after the turn is over. Where it is over,
   * no code is asked for, and one that was not returned yet is.
   */
  async code({ from, contains, ask, late = 0, signal } = {}) {
    const { status, fence, messages } = await this.#messages("", 0, signal);
    if (status === "waiting") throw notYet();
    const lives = status === "locked" && (await this.#expect({ fence, from, contains }, signal));
    if (!lives) return this.#await([], late, signal);
    await ask?.(signal);
    return this.#await(messages.map(idOf), late, signal);
  }

  /** Says that a code is not the seller's. Where it has ended the turn, code with late waits for the next. */
  async reject(message, { signal } = {}) {
    const body = { fence: message.fence, message_id: message.message_id };
    try {
      await this.call("POST", "/lock/reject", { body, signal });
    } catch (error) {
      if (error.code !== "no_message") throw error; // as where the answer to an earlier try was lost
    }
  }

  /** Gives the lock back: the seller has used the code. A turn that a message has ended is done already. */
  async done({ signal } = {}) {
    if (this.#fence == null && (await this.#known(signal))?.status === "waiting") throw notYet();
    await this.#leave("completed", this.#fence, signal);
  }

  /** Gives the place up, waiting or not. */
  leave({ signal } = {}) {
    return this.#leave("cancelled", null, signal);
  }

  /** Asks how the place is. A waiting place counts as there for it. */
  async look(signal) {
    const { me, paused } = await this.call("GET", "/lock/status?here=true", { signal });
    if (!me) throw new Refused(404, "no_place", "the session has no place");
    return this.observe({ ...me, paused });
  }

  observe(state) {
    this.state = state;
    this.#fence = state.fence ?? this.#fence;
    return state;
  }

  /** Where its socket is, and what names the session there. */
  get socket() {
    const protocols = () => ["waitroom", `waitroom.session.${this.#session}`];
    return { url: `${this.#base.replace(/^http/, "ws")}/ws`, protocols };
  }

  async call(method, path, { body, key, signal } = {}) {
    const headers = { ...this.#headers, "X-Session-ID": this.#session, Accept: "application/json" };
    if (body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    for (let attempt = 0; ; attempt++) {
      const options = { method, headers, body: body && JSON.stringify(body) };
      const answer = await once(`${this.#base}${path}`, options, signal);
      const whole = answer && (!answer.ok || answer.body.status); // another is some proxy's own
      if (whole && answer.ok) return answer.body;
      const later = whole && pauseOf(answer);
      if (whole && later === undefined) {
        throw new Refused(answer.status, answer.body.code ?? "unknown", answer.body.detail);
      }
      await sleep(later || backoff(attempt), signal);
    }
  }

  async #claim({ fence }, signal) {
    try {
      const state = await this.call("POST", "/lock/claim", { body: fence == null ? {} : { fence }, signal });
      return this.observe({ ...state, claim_by: null });
    } catch (error) {
      if (!["stale_fence", "no_place"].includes(error.code)) throw error;
      return this.look(signal); // the lease ended meanwhile
    }
  }

  /** Asks, and says whether the turn lives. */
  async #expect(body, signal) {
    try {
      await this.call("POST", "/lock/expect", { body, key: freshKey(), signal });
    } catch (error) {
      if (!["stale_fence", "no_place"].includes(error.code)) throw error;
      if ((await this.look(signal)).status !== "ended") throw error;
      return false;
    }
    return true;
  }

  #messages(after, wait, signal) {
    const query = new URLSearchParams();
    if (after) query.set("after", after);
    if (wait) query.set("wait", wait);
    return this.call("GET", `/lock/messages?${query}`, { signal });
  }

  /** The newest message with a code that was not there before, and that no call has taken. */
  #take(messages, before) {
    const isNew = (m) => m.code && !before.includes(idOf(m)) && !this.#taken.has(idOf(m));
    const found = messages.filter(isNew).at(-1);
    if (found) this.#taken.add(idOf(found));
    return found;
  }

  async #await(before, late, signal) {
    for (let over = 0, after = before.at(-1); ; ) {
      const { status, judging, fence, messages } = await this.#messages(after, WAIT, signal);
      const found = this.#take(messages, before);
      if (found) return { ...found, fence };
      after = messages.map(idOf).at(-1);
      if (status !== "ended") continue;
      over ||= Date.now();
      if (!judging && Date.now() - over >= late) throw new Ended((await this.look(signal)).outcome);
      await sleep(POLL / 4, signal);
    }
  }

  /** How the place is; undefined where the server knows of no place any more. */
  async #known(signal) {
    try {
      return await this.look(signal);
    } catch (error) {
      if (error.code === "no_place") return undefined;
      throw error;
    }
  }

  async #leave(reason, fence, signal) {
    const query = fence == null ? `reason=${reason}` : `reason=${reason}&fence=${fence}`;
    try {
      const { outcome } = await this.call("DELETE", `/lock?${query}`, { signal });
      this.observe({ status: "ended", outcome });
    } catch (error) {
      if (error.code !== "no_place") throw error;
      const outcome = (await this.#known(signal))?.outcome;
      if (outcome && outcome !== reason && reason !== "cancelled") throw new Ended(outcome);
    }
  }
}

/** Hands on a place's states: of a socket or, where none comes through, of a call each second. */
class Follower {
  #turn;
  #signal;
  #socket;
  #lost = 0;
  #states = [];
  #wake;

  constructor(turn, signal) {
    this.#turn = turn;
    this.#signal = signal;
    if (typeof WebSocket === "undefined") return; // Node before 22
    this.#socket = new RoomSocket({
      ...turn.socket,
      onFrame: (frame) => frame.type === "state" && this.#push(frame),
      onStatus: (status) => {
        if (status === "open") this.#lost = 0;
        if (status === "closed" || (status === "lost" && ++this.#lost >= BLOCKED)) this.#blocked();
      },
    });
    this.#socket.start();
  }

  /** The next state; where the socket has none for longer than it is silent, the one that the server says. */
  async next() {
    if (this.#states.length > 0) return this.#states.shift();
    if (!this.#socket) {
      await sleep(POLL, this.#signal);
      return this.#turn.look(this.#signal);
    }
    await until((resolve) => (this.#wake = resolve), this.#signal);
    return this.#states.shift() ?? this.#turn.look(this.#signal);
  }

  close() {
    this.#socket?.rest();
    this.#socket = undefined;
  }

  #blocked() {
    this.close();
    this.#wake?.();
  }

  #push(state) {
    const known = state.status !== "idle"; // else the call says that there is no place
    this.#states = known ? [this.#turn.observe(state)] : []; // the latest is all that counts
    this.#wake?.();
  }
}

/** One try; undefined where no whole answer came. */
async function once(url, options, signal) {
  signal?.throwIfAborted();
  const abort = new AbortController();
  const request = new Request(url, { ...options, signal: abort.signal, redirect: "manual" }); // or it throws
  const patience = setTimeout(() => abort.abort(), CALL);
  const stop = () => abort.abort();
  signal?.addEventListener("abort", stop);
  try {
    const answer = await fetch(request);
    const text = await answer.text();
    return { ok: answer.ok, status: answer.status, headers: answer.headers, body: parse(text) };
  } catch {
    signal?.throwIfAborted();
    return undefined;
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener("abort", stop);
  }
}

function parse(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // a proxy's own page
  }
}

/** In how many milliseconds the same call may be answered otherwise; undefined: never. */
function pauseOf({ status, headers }) {
  const after = headers.get("Retry-After");
  if (after && Number(after) >= 0) return Math.min(Math.max(Number(after), 1), AFTER) * 1000;
  return status >= 500 || status === 429 ? 1000 : undefined;
}

const notYet = () => new Error("the turn has not come yet: wait first");
const idOf = (message) => message.message_id;

async function sleep(milliseconds, signal) {
  let timer;
  try {
    await until((resolve) => (timer = setTimeout(resolve, milliseconds)), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until start's resolve is called; rejects once signal says so, and leaves no listener on it. */
async function until(start, signal) {
  signal?.throwIfAborted();
  let stop;
  try {
    await new Promise((resolve, reject) => {
      stop = () => reject(signal.reason);
      signal?.addEventListener("abort", stop);
      start(resolve);
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
