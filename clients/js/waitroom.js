// Generated from src/turn.js and the modules of the pages: run make generate.

// ../../static/js/backoff.js
var FIRST = 1e3;
var CAP = 2e4;
function backoff(attempt, random = Math.random) {
  return random() * Math.min(CAP, FIRST * 2 ** Math.min(attempt, 10));
}

// ../../static/js/socket.js
var SILENCE = 4e4;
var HANDSHAKE = 1e4;
var BROKEN = 1006;
var RoomSocket = class {
  #socket = null;
  #opening = null;
  #reported = false;
  // whether onStatus received "open"
  #attempt = 0;
  #retry = 0;
  #watch = 0;
  #over = false;
  constructor({ url, onFrame, onStatus, protocols = () => [], first = "state", silence = SILENCE }) {
    Object.assign(this, { url, onFrame, onStatus, protocols, first, silence });
  }
  start() {
    this.#open();
    this.onStatus("connecting");
  }
  /** Reconnects at once: after sleep or a change of network a socket may only look alive. */
  renew() {
    if (this.#over) return;
    this.#attempt = 0;
    this.#open();
  }
  /** Reconnects for a whole state after a growing pause: a frame did not fit, or the network is gone. */
  again() {
    if (!this.#over) this.#lost(0);
  }
  /** Reconnects although the server forbade it: as another seller. */
  restart() {
    this.#over = false;
    this.#lost(0);
  }
  /** Closes without a reconnect, for a page that is being put away. */
  rest() {
    this.#drop();
  }
  async #open() {
    this.#drop();
    const opening = this.#opening = {};
    this.#listen();
    try {
      const protocols = await this.protocols();
      if (opening === this.#opening) this.#connect(protocols);
    } catch {
      if (opening === this.#opening) this.#lost(0);
    }
  }
  #connect(protocols) {
    const socket = new WebSocket(this.url, protocols);
    this.#socket = socket;
    this.#opening = null;
    this.#listen(Math.min(HANDSHAKE, this.silence));
    socket.addEventListener("message", (event) => this.#heard(socket, event.data));
    const ended = (code) => socket === this.#socket && this.#lost(code);
    socket.addEventListener("close", (event) => ended(event.code));
    socket.addEventListener("error", () => setTimeout(() => ended(BROKEN)));
  }
  #heard(socket, data) {
    if (socket !== this.#socket) return;
    this.#listen();
    const frame = parse(data);
    if (!frame) return;
    if (frame.type === "ping") socket.send('{"type":"pong"}');
    if (frame.type === this.first) {
      this.#attempt = 0;
      if (!this.#reported) this.onStatus("open");
      this.#reported = true;
    }
    this.onFrame(frame);
  }
  #lost(code) {
    this.#drop();
    if (code >= 4500 && code <= 4999) {
      this.#over = true;
      this.onStatus("closed", code);
      return;
    }
    this.#retry = setTimeout(() => this.#open(), backoff(this.#attempt++));
    this.onStatus("lost", code);
  }
  #listen(patience = this.silence) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#lost(0), patience);
  }
  #drop() {
    clearTimeout(this.#retry);
    clearTimeout(this.#watch);
    const socket = this.#socket;
    this.#socket = this.#opening = null;
    this.#reported = false;
    if (socket && socket.readyState < WebSocket.CLOSING) socket.close(1e3);
  }
};
function parse(data) {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

// src/keep.js
var node = (name) => import(
  /* webpackIgnore: true */
  /* @vite-ignore */
  `node:${name}`
);
function kept(keep, server, room, seller) {
  if (!seller) throw new TypeError("keep a session: want the seller's id, also beside a token");
  const place = `${server} ${room} ${seller}`;
  const store = typeof keep === "string" ? directory(keep) : keep;
  return { load: () => store.load(place), save: (session) => store.save(place, session) };
}
function directory(path) {
  const file = async (place) => {
    const { createHash } = await node("crypto");
    return `${path}/${createHash("sha256").update(place).digest("hex")}`;
  };
  return {
    async load(place) {
      const { readFile } = await node("fs/promises");
      return readFile(await file(place), "utf8").then((text) => text.trim(), absent);
    },
    async save(place, session) {
      const { mkdir, rename, rm, writeFile } = await node("fs/promises");
      if (!session) return rm(await file(place), { force: true });
      await mkdir(path, { recursive: true, mode: 448 });
      const next = `${await file(place)}.${process.pid}.next`;
      await writeFile(next, `${session}
`, { mode: 384 });
      await rename(next, await file(place));
    }
  };
}
function absent(error) {
  if (error.code !== "ENOENT") throw error;
  return "";
}

// src/turn.js
var CALL = 6e4;
var WAIT = 25;
var POLL = 1e3;
var AFTER = 60;
var BUSY = 2;
var BLOCKED = 2;
var Refused = class extends Error {
  constructor(status, code, detail, reason) {
    super([`waitroom answered ${status} ${code}`, reason, detail].filter(Boolean).join(": "));
    Object.assign(this, { name: "Refused", status, code, reason });
  }
};
var Ended = class extends Error {
  constructor(outcome) {
    super(`the turn is over: ${outcome}`);
    Object.assign(this, { name: "Ended", outcome });
  }
};
async function join(server, room, seller, options = {}) {
  const { session, keep, mayWait = true, token, headers, signal } = options;
  const turn = new Turn(server, room, session ?? await uuid(), headers);
  if (keep && await turn.keep(keep, seller, signal)) return turn;
  const path = mayWait ? "/lock?here=true" : "/lock?wait=false";
  turn.observe(await turn.call("POST", path, { body: { seller_id: seller, asks: true }, token, signal }));
  return turn;
}
async function resume(server, room, session, { headers, signal } = {}) {
  const turn = new Turn(server, room, session, headers);
  await turn.look(signal);
  return turn;
}
var Turn = class {
  #base;
  #headers;
  #session;
  #fence = null;
  // of the last lease
  #taken = /* @__PURE__ */ new Set();
  // messages whose codes were returned
  #server;
  #room;
  #kept;
  // where the session is kept; undefined = nowhere
  constructor(server, room, session, headers = {}) {
    if (!/^https?:\/\//.test(server)) throw new TypeError("want a server such as https://waitroom.example");
    this.#server = new URL(server).href.replace(/\/$/, "");
    this.#room = room;
    this.#base = `${this.#server}/api/${encodeURIComponent(room)}`;
    this.#headers = new Headers(headers);
    const asksItself = typeof document !== "undefined";
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
    const state = before && await this.#known(signal);
    if (state && (state.status !== "ended" || state.outcome === "completed")) return true;
    if (state) this.#session = fresh;
    await this.#kept.save(this.#session);
    return false;
  }
  /**
   * Resolves once the seller holds the lock; rejects with Ended if the place ends before. If the turn came and
   * was completed already, it resolves, too: code then returns the code that completed it.
   */
  async wait({ signal, onState = () => {
  } } = {}) {
    const seen = (state2) => (onState(state2), state2);
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
    const lives = status === "locked" && await this.#expect({ fence, from, contains }, signal);
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
      if (error.code !== "no_message") throw error;
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
      const whole = answer && (!answer.ok || answer.body.status);
      if (whole && answer.ok) return answer.body;
      const later = whole && pauseOf(answer);
      if (whole && later === void 0) {
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
      return this.look(signal);
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
      if (error.code === "no_place") return void 0;
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
};
var Follower = class {
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
    if (typeof WebSocket === "undefined") return;
    this.#socket = new RoomSocket({
      ...turn.socket,
      onFrame: (frame) => frame.type === "state" && this.#push(frame),
      onStatus: (status) => {
        this.#open = status === "open";
        if (this.#open) this.#lost = 0;
        if (status === "closed" || status === "lost" && ++this.#lost >= BLOCKED) this.close();
        this.#wake?.();
      }
    });
    this.#socket.start();
  }
  /** Returns the next state. A handshake may hang: until a socket is open, calls keep the seller present. */
  async next() {
    const woken = (resolve) => this.#wake = resolve;
    if (this.#open && this.#states.length === 0) await until(woken, this.#signal);
    if (!this.#open && this.#states.length === 0) await sleep(POLL, this.#signal, woken);
    return this.#states.shift() ?? await this.#ask() ?? this.#states.shift();
  }
  close() {
    this.#socket?.rest();
    this.#socket = void 0;
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
    const known = state.status !== "idle";
    this.#states = known ? [this.#turn.observe(state)] : [];
    this.#wake?.();
  }
};
async function uuid() {
  const source = globalThis.crypto ?? (await node("crypto")).webcrypto;
  if (source.randomUUID) return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = bytes[6] & 15 | 64;
  bytes[8] = bytes[8] & 63 | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
async function once(url, options, signal) {
  signal?.throwIfAborted();
  const abort = new AbortController();
  const request = new Request(url, { ...options, signal: abort.signal, redirect: "manual" });
  const patience = setTimeout(() => abort.abort(), CALL);
  const stop = () => abort.abort();
  signal?.addEventListener("abort", stop);
  try {
    const answer = await fetch(request);
    const text = await answer.text();
    return { ok: answer.ok, status: answer.status, headers: answer.headers, body: parse2(text) };
  } catch {
    signal?.throwIfAborted();
    return void 0;
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener("abort", stop);
  }
}
function parse2(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
function pauseOf({ status, headers, body }) {
  const after = headers.get("Retry-After");
  const most = body.code === "number_busy" ? BUSY : AFTER;
  if (after && Number(after) >= 0) return Math.min(Math.max(Number(after), 1), most) * 1e3;
  return status >= 500 || status === 429 ? 1e3 : void 0;
}
var notYet = () => new Error("the turn has not come yet: wait first");
var idOf = (message) => message.message_id;
async function sleep(milliseconds, signal, woken = () => {
}) {
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
export {
  Ended,
  Refused,
  Turn,
  join,
  resume
};
