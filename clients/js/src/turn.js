import { backoff } from "../../../static/js/backoff.js";
import { RoomSocket } from "../../../static/js/socket.js";
import { kept, node } from "./keep.js";

const CALL = 60000; // milliseconds: longer than the longest wait for a message
const WAIT = 25; // seconds that the server lets a call wait for a message
const POLL = 1000; // milliseconds, where no socket comes through
const AFTER = 60; // seconds of a Retry-After, at most
const BUSY = 2; // the same while the number is busy: the code that it waits for may come
const BLOCKED = 2; // so many sockets in a row that were lost before a word came: none comes through

/** A refusal by the server. code is stable, such as "seller_has_place". */
export class Refused extends Error {
  constructor(status, code, detail, reason) {
    super([`waitroom answered ${status} ${code}`, reason, detail].filter(Boolean).join(": "));
    Object.assign(this, { name: "Refused", status, code, reason });
  }
}

/** The place has ended; outcome is how, such as "expired". */
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
export async function join(server, room, seller, options = {}) {
  const { session, keep, mayWait = true, token, headers, signal } = options;
  const turn = new Turn(server, room, session ?? (await uuid()), headers);
  if (keep && (await turn.keep(keep, seller, signal))) return turn;
  const path = mayWait ? "/lock?here=true" : "/lock?wait=false"; // passed over if the program dies before it waits
  turn.observe(await turn.call("POST", path, { body: { seller_id: seller, asks: true }, token, signal }));
  return turn;
}

/** Continues the place of a session that joined before. */
export async function resume(server, room, session, { headers, signal } = {}) {
  const turn = new Turn(server, room, session, headers);
  await turn.look(signal);
  return turn;
}

/** A seller's place in a room. Every call is repeated until the server answers or signal aborts it. */
export class Turn {
  #base;
  #headers;
  #session;
  #fence = null; // of the last lease
  #taken = new Set(); // messages whose codes were returned
  #server;
  #room;
  #kept; // where the session is kept; undefined = nowhere

  constructor(server, room, session, headers = {}) {
    if (!/^https?:\/\//.test(server)) throw new TypeError("want a server such as https://waitroom.example");
    this.#server = new URL(server).href.replace(/\/$/, "");
    this.#room = room;
    this.#base = `${this.#server}/api/${encodeURIComponent(room)}`;
    this.#headers = new Headers(headers);
    const asksItself = typeof document !== "undefined"; // a browser asks for its reader's language
    if (!asksItself && !this.#headers.has("Accept-Language")) this.#headers.set("Accept-Language", "en");
    this.#session = session;
    this.state = { status: "waiting" };
  }

  /** The secret that identifies the place. Printing a turn does not print it. */
  get session() {
    return this.#session;
  }

  /**
   * Goes on with the session that keep has, and returns whether that has a place to go on with. Where it has
   * none, keep has the session to join with.
   */
  async keep(keep, seller, signal) {
    this.#kept = kept(keep, this.#server, this.#room, seller);
    const [fresh, before] = [this.#session, await this.#kept.load()];
    this.#session = before || fresh;
    const state = before && (await this.#known(signal));
    if (state && (state.status !== "ended" || state.outcome === "completed")) return true;
    if (state) this.#session = fresh; // the place has ended; without any, the program died before it had joined
    await this.#kept.save(this.#session);
    return false;
  }

  /**
   * Resolves once the seller holds the lock; rejects with Ended if the place ends before. If the turn came and
   * was completed already, it resolves, too: code then returns the code that completed it.
   */
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
    if (state.status === "ended" && state.outcome !== "completed") throw new Ended(state.outcome);
  }

  /**
   * Asks for a code and returns the message. ask makes the marketplace send the code; it is called once the
   * number is free. late: for how many milliseconds to wait for a code after the turn's end. After the end it
   * asks for no code, and returns one that it has not returned yet.
   */
  async code({ from, contains, ask, late = 0, signal } = {}) {
    const { status, fence, messages } = await this.#messages("", 0, signal);
    if (status === "waiting") throw notYet();
    const lives = status === "locked" && (await this.#expect({ fence, from, contains }, signal));
    if (!lives) return this.#await([], late, signal);
    await ask?.(signal);
    return this.#await(messages.map(idOf), late, signal);
  }

  /** Reports that a code is not the seller's. If it has ended the turn, code with late waits for the next one. */
  async reject(message, { signal } = {}) {
    const body = { fence: message.fence, message_id: message.message_id };
    try {
      await this.call("POST", "/lock/reject", { body, signal });
    } catch (error) {
      if (error.code !== "no_message") throw error; // as where the answer to an earlier try was lost
    }
  }

  /** Gives the lock back after the seller has used the code. It is no error if a message has ended the turn. */
  async done({ signal } = {}) {
    if (this.#fence == null && (await this.#known(signal))?.status === "waiting") throw notYet();
    await this.#leave("completed", this.#fence, signal);
  }

  /** Gives the place up, waiting or not. */
  leave({ signal } = {}) {
    return this.#leave("cancelled", null, signal);
  }

  /** Reads the place's state. A waiting seller counts as present by it. */
  async look(signal) {
    const { me, paused, notice } = await this.call("GET", "/lock/status?here=true", { signal });
    if (!me) throw new Refused(404, "no_place", "the session has no place");
    return this.observe({ ...me, paused, notice });
  }

  observe(state) {
    this.state = state;
    this.#fence = state.fence ?? this.#fence;
    return state;
  }

  /** The socket's address, and the subprotocol that names the session. */
  get socket() {
    const protocols = () => ["waitroom", `waitroom.session.${this.#session}`];
    return { url: `${this.#base.replace(/^http/, "ws")}/ws`, protocols };
  }

  async call(method, path, { body, key, token, signal } = {}) {
    const headers = new Headers(this.#headers);
    headers.set("X-Session-ID", this.#session);
    headers.set("Accept", "application/json");
    if (body) headers.set("Content-Type", "application/json");
    if (key) headers.set("Idempotency-Key", key);
    for (let attempt = 0; ; attempt++) {
      const proof = typeof token === "function" ? await token(signal) : token;
      if (proof) headers.set("Authorization", `Bearer ${proof}`);
      const options = { method, headers, body: body && JSON.stringify(body) };
      const answer = await once(`${this.#base}${path}`, options, signal);
      const whole = answer && (!answer.ok || answer.body.status); // another is some proxy's own
      if (whole && answer.ok) return answer.body;
      const later = whole && pauseOf(answer);
      if (whole && later === undefined) {
        const { code = "unknown", detail, reason } = answer.body;
        throw new Refused(answer.status, code, detail, reason);
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

  /** Announces an ask; returns whether the turn is live. */
  async #expect(body, signal) {
    try {
      await this.call("POST", "/lock/expect", { body, key: await uuid(), signal });
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

  /** Returns the newest message with a code that is not in before and that no call has returned. */
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
      if (!judging && Date.now() - over >= late) {
        const { outcome } = await this.look(signal);
        await this.#kept?.save("");
        throw new Ended(outcome);
      }
      await sleep(POLL / 4, signal);
    }
  }

  /** Returns the place's state; undefined if the server has no such place any more. */
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
      await this.#kept?.save("");
      if (outcome && outcome !== reason && reason !== "cancelled") throw new Ended(outcome);
      return;
    }
    await this.#kept?.save("");
  }
}

/** Follows a place's states: by a socket and, while none is open, by a call each second. */
class Follower {
  #turn;
  #signal;
  #socket;
  #open = false;
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
        this.#open = status === "open";
        if (this.#open) this.#lost = 0;
        if (status === "closed" || (status === "lost" && ++this.#lost >= BLOCKED)) this.close();
        this.#wake?.();
      },
    });
    this.#socket.start();
  }

  /** Returns the next state. A handshake may hang: until a socket is open, calls keep the seller present. */
  async next() {
    const woken = (resolve) => (this.#wake = resolve);
    if (this.#open && this.#states.length === 0) await until(woken, this.#signal);
    if (!this.#open && this.#states.length === 0) await sleep(POLL, this.#signal, woken);
    return this.#states.shift() ?? (await this.#ask()) ?? this.#states.shift();
  }

  close() {
    this.#socket?.rest();
    this.#socket = undefined;
  }

  /** Asks for the state by a call, which may hang. A state from the socket ends it; then it returns none. */
  async #ask() {
    const call = new AbortController();
    let end;
    const heard = (resolve) => {
      end = resolve;
      this.#wake = () => this.#states.length > 0 && resolve();
    };
    try {
      return await Promise.race([this.#turn.look(call.signal), until(heard, this.#signal)]);
    } finally {
      end?.();
      call.abort();
    }
  }

  #push(state) {
    const known = state.status !== "idle"; // else the call says that there is no place
    this.#states = known ? [this.#turn.observe(state)] : []; // the latest is all that counts
    this.#wake?.();
  }
}

/** Returns a random UUID. Node 18 has no global crypto, and a page by plain http none with randomUUID. */
async function uuid() {
  const source = globalThis.crypto ?? (await node("crypto")).webcrypto;
  if (source.randomUUID) return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40; // RFC 9562, 5.4: version 4 and the variant
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Makes one attempt; returns undefined if no complete answer came. */
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

/** Returns after how many milliseconds a retry may get another answer; undefined = never. */
function pauseOf({ status, headers, body }) {
  const after = headers.get("Retry-After");
  const most = body.code === "number_busy" ? BUSY : AFTER;
  if (after && Number(after) >= 0) return Math.min(Math.max(Number(after), 1), most) * 1000;
  return status >= 500 || status === 429 ? 1000 : undefined;
}

const notYet = () => new Error("the turn has not come yet: wait first");
const idOf = (message) => message.message_id;

/** Waits so long, or until what it gives to woken is called. */
async function sleep(milliseconds, signal, woken = () => {}) {
  let timer;
  const start = (resolve) => {
    timer = setTimeout(resolve, milliseconds);
    woken(resolve);
  };
  try {
    await until(start, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until start calls resolve, or rejects once signal aborts; leaves no listener on signal. */
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
