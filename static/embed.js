import { Actions } from "./js/actions.js";
import { ServerClock } from "./js/clock.js";
import { Refused, freshKey } from "./js/http.js";
import { LastPlace } from "./js/place.js";
import { Poll } from "./js/poll.js";
import { sessionOf } from "./js/session.js";
import { RoomSocket } from "./js/socket.js";
import { Store } from "./js/store.js";
import { whenBack } from "./js/wake.js";

export { Refused };

const FORBIDDEN = 4502; // another seller acts in this browser now
const ANSWERED = 1000; // milliseconds until a join's answer is there, as a rule
const BLOCKED = 2; // after so many silent sockets in a row the client polls

/** Texts for developers; the server sends the rest, in the language asked for. */
const WORDS = { unreachable: "waitroom does not answer", went_wrong: "waitroom refused, without a reason" };

/**
 * One seller's view of one room, kept current while it is open. It reconnects by itself after a break, a
 * sleep and a change of network, and never emits an older state after a newer one. The types are in
 * embed.d.ts, and docs/embed.md shows how to use it. waitroom's own page is built on it.
 *
 * @example const room = WaitingRoom.connect({ room: "integration" }); room.on("state", (state) =>
 * console.log(state.status, state.queue_position)); await room.join("seller-1");
 */
export class WaitingRoom {
  #session;
  #socket;
  #poll;
  #unheard = 0; // sockets in a row without a frame, a broken one included
  #polled = false; // whether the newest poll had an answer
  #refusal = ""; // the code and reason of the last error event, until the server answers
  #listeners = new Map(); // event → functions
  #keys = new Map(); // request → its idempotency key, until there is an answer
  #fence; // of the newest known turn
  #gone = new AbortController();

  /**
   * Opens a room's view; close ends it.
   * @param {import("./embed").Options} options
   * @returns {WaitingRoom}
   */
  static connect(options) {
    return new WaitingRoom(options);
  }

  constructor({ room, server, language, session, known, token, seller, state, words = WORDS }) {
    const base = new URL(server ?? import.meta.url, document.baseURI).origin;
    this.room = room;
    this.clock = new ServerClock();
    this.clock.observe(state?.server_time);
    this.#session = sessionOf({
      base,
      kind: session,
      token,
      seller,
      room,
      known,
      fresh: state?.ticket == null,
      renewed: () => this.#startOver(),
    });
    this.store = new Store(
      state,
      new LastPlace(token == null ? `place:${room}${seller ? `:${seller}` : ""}` : ""),
      () => this.#doubts(),
    );
    this.#fence = this.state.fence;
    const lang = language ?? (document.documentElement.lang || navigator.language);
    this.actions = new Actions({ room, base, lang, words, session: this.#session });
    this.store.onChange((now, before) => {
      this.#fence = now.fence ?? this.#fence;
      this.#session.settle?.(now.ticket != null);
      if (now.ticket !== before.ticket) this.#learn();
      this.#emit("state", now, before);
    });
    this.#socket = new RoomSocket({
      url: `${base.replace(/^http/, "ws")}/api/${encodeURIComponent(room)}/ws?lang=${encodeURIComponent(lang)}`,
      protocols: () => this.#session.protocols(),
      onFrame: (frame) => this.#hear(frame),
      onStatus: (status, code) => this.#status(status, code),
    });
    this.#poll = new Poll({ ask: () => this.#try(), onResult: (answered) => this.#answered(answered) });
    queueMicrotask(() => this.#start());
  }

  /** The newest known state. @returns {import("./embed").State} */
  get state() {
    return this.store.state;
  }

  /** The server's time in unix ms, by which all times in a state are. */
  now() {
    return this.clock.now();
  }

  /**
   * Calls a function at each event, until the returned function is called.
   * @returns {() => void}
   */
  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
    return () => this.#listeners.get(event).delete(listener);
  }

  /** 준비 완료 ("ready"): joins the line, or returns the place that this session has already. */
  async join(seller = "", { asks = true } = {}) {
    const answer = await this.actions.join(seller, asks);
    if (this.#session.learn(answer.session_id)) this.#socket.renew();
    return this.#take(answer);
  }

  /** Gives the turn or the place in line back. */
  async leave() {
    return this.#take(await this.actions.leave("cancelled", this.state.fence));
  }

  /** Ends the turn as completed. */
  async done() {
    return this.#take(await this.actions.leave("completed", this.state.fence));
  }

  /** Records an ask for a code. Repeated until there is an answer, it is the same ask. */
  expect({ from, contains } = {}) {
    return this.#ask({ from, contains });
  }

  /** Claims an unclaimed message: this session had asked for it. */
  claimMessage(message) {
    return this.#ask({ message_id: message });
  }

  /** Claims the turn, or returns to the line after a missed turn. */
  async claim() {
    return this.#take(await this.actions.claim(this.state.fence));
  }

  /**
   * Reports that a code belongs to another seller. fence: the turn's that received it;
   * default: the newest turn's.
   */
  async reject(message, fence = this.#fence) {
    await this.actions.reject(fence, message);
  }

  /** Reads the state now, without waiting for the socket. */
  async refresh() {
    this.store.applyStatus(await this.actions.status());
    return this.state;
  }

  /**
   * Closes the room's view; the place stays until it ends by itself. forget: also drops the session, for a
   * seller who signs out.
   */
  close({ forget = false } = {}) {
    this.#gone.abort();
    this.#rest();
    this.#listeners.clear();
    if (forget) this.#session.renew();
  }

  #start() {
    const { signal } = this.#gone;
    if (signal.aborted) return;
    this.#socket.start();
    this.#learn();
    whenBack({
      back: () => this.#back(),
      away: () => this.#rest(),
      lost: () => this.#socket.again(),
      signal,
    });
  }

  /**
   * Asks for the session of a place that came by the socket or with the page: where the cookie vanishes, the
   * page needs its id. The answer to this page's own join has it too, and may be on its way.
   */
  #learn() {
    const ask = () => {
      const wanted = this.#session.unknown && this.state.ticket != null && !this.#gone.signal.aborted;
      if (wanted) this.actions.status().catch(() => {});
    };
    if (this.#session.unknown) setTimeout(ask, ANSWERED);
  }

  #back() {
    this.#socket.renew();
    if (this.#unheard >= BLOCKED) this.#poll.start();
    this.#poll.now();
  }

  #rest() {
    this.#socket.rest();
    this.#poll.stop();
  }

  /**
   * Emits the socket's status, or the polls' where no socket comes through:
   * "polling" while they are answered.
   */
  #status(status, code) {
    if (status === "closed" && code === FORBIDDEN && this.#session.renew()) return;
    if (status === "open" || status === "closed") {
      this.#unheard = 0;
      this.#polled = false;
      this.#poll.stop();
    }
    if (status === "lost" && ++this.#unheard >= BLOCKED) this.#poll.start();
    // a socket does not say why it was refused; a call does
    if (status === "closed" && this.#listeners.has("error")) this.#try().catch(() => {});
    if (status === "open") this.#refusal = "";
    if (!this.#polled) this.#emit("connection", status, code);
  }

  #answered(answered) {
    if (answered !== this.#polled) this.#emit("connection", answered ? "polling" : "lost");
    this.#polled = answered;
  }

  /** Asks for the state. A refusal that a repeat would get again is an error event, once. */
  async #try() {
    try {
      await this.#askState();
      this.#refusal = "";
    } catch (error) {
      const why = error.final && `${error.code} ${error.problem.reason}`;
      if (why && why !== this.#refusal) {
        this.#refusal = why;
        this.#emit("error", error);
      }
      throw error;
    }
  }

  /** Asks for the state, and for messages where there may be some. */
  async #askState() {
    const status = await this.actions.poll();
    this.clock.observe(status.server_time);
    this.store.applyStatus(status);
    this.#emit("polled");
    if (!["locked", "ended"].includes(this.state.status)) return;
    const { messages = [] } = await this.actions.messages().catch(() => ({}));
    for (const { received_at, ...message } of messages)
      this.#hear({ ...message, type: "sms", received_at: Date.parse(received_at) });
  }

  /** Asks again by the page's own session, where it has one. */
  #doubts() {
    if (!this.#session.doubts?.()) return false;
    this.#socket.renew();
    return true;
  }

  /** Forgets the previous seller: the next one in this browser gets nothing of theirs. */
  #startOver() {
    this.#fence = null;
    this.#keys.clear();
    this.store.forget();
    if (!this.#gone.signal.aborted) this.#socket.restart();
  }

  #hear(frame) {
    this.clock.observe(frame.server_time);
    if (frame.type === "state") this.store.apply(frame);
    if (frame.type === "sms") this.#emit("message", frame);
    if (frame.type === "sms_unclaimed") this.#emit("unclaimed", frame);
    if (frame.type === "notice") this.#emit("notice", frame.notice);
    this.#emit("frame", frame);
  }

  async #ask(what) {
    const { fence } = this.state;
    const named = JSON.stringify([fence, what]);
    if (!this.#keys.has(named)) this.#keys.set(named, freshKey());
    try {
      const answer = await this.actions.expect(fence, this.#keys.get(named), what);
      this.#keys.delete(named);
      this.store.applyExpectation(answer);
    } catch (error) {
      if (error.final) this.#keys.delete(named);
      if (error.code === "number_busy") this.store.applyBusy(fence, Date.parse(error.problem.ask_after));
      throw error;
    }
    return this.state;
  }

  #take(answer) {
    this.store.applyAnswer(answer, this.now());
    return this.state;
  }

  #emit(event, ...values) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(...values);
  }
}
