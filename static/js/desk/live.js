import { ServerClock } from "../clock.js";
import { byID, put } from "../dom.js";
import { RoomSocket } from "../socket.js";
import { whenBack } from "../wake.js";
import { fill } from "../words.js";
import { Freshness } from "./freshness.js";

const SILENCE = 15000; // milliseconds; the server has a heartbeat every second
const SIGNED_OUT = 4501;
const USED_EVERY = 300000; // milliseconds; a sign-in ends after half an hour without use

/** The stream of a page of the desk, and the notice of its age. */
export class Live {
  #listeners = [];
  #opened = false; // the current connection has had a frame
  #used = Date.now(); // when the server last heard that this page is in use

  /** first: the type of the frame that carries the whole state; onFrame receives every frame. */
  constructor({ path, first, words, onFrame }) {
    this.words = words;
    this.path = path;
    this.server = new ServerClock();
    this.freshness = new Freshness();
    this.status = "connecting";
    this.socket = new RoomSocket({
      url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`,
      first,
      silence: SILENCE,
      onFrame: (frame) => this.#hear(frame, onFrame),
      onStatus: (status, code) => this.#status(status, code),
    });
  }

  start() {
    this.socket.start();
    whenBack({
      back: () => this.socket.renew(),
      away: () => this.socket.rest(),
      lost: () => this.socket.again(),
    });
    setInterval(() => this.#tick(), 1000);
    for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => this.#use());
  }

  /** Calls a listener every second. */
  onTick(listener) {
    this.#listeners.push(listener);
  }

  /** Returns whether the shown state may be old. */
  get stale() {
    return this.freshness.state === "stale" || this.freshness.state === "lost";
  }

  #hear(frame, onFrame) {
    this.#opened = true;
    this.server.observe(frame.server_time);
    this.freshness.hear(frame);
    onFrame(frame);
    if (frame.type === "beat") this.#draw();
  }

  #status(status, code) {
    if (code === SIGNED_OUT) return signIn();
    if (status === "lost" && !this.#opened) this.#ask();
    this.#opened = false;
    this.status = status;
    this.freshness.connection(status === "lost" || status === "closed");
    document.body.dataset.connection = status;
    this.#draw();
  }

  /** A person used the page: a plain request makes the sign-in last on. */
  async #use() {
    if (Date.now() - this.#used < USED_EVERY) return;
    this.#used = Date.now();
    const how = { method: "HEAD", redirect: "manual" };
    const answer = await fetch(location.href, how).catch(() => undefined);
    if (answer?.type === "opaqueredirect") signIn();
  }

  /** A browser does not report why a socket was refused; a plain request shows whether the sign-in ended. */
  async #ask() {
    const answer = await fetch(this.path, { redirect: "manual" }).catch(() => undefined);
    if (answer?.status === 401) signIn();
  }

  #tick() {
    this.#draw();
    for (const listener of this.#listeners) listener(this.server.now());
  }

  #draw() {
    if (this.status === "connecting") return;
    const { words: t, freshness } = this;
    const { state } = freshness;
    const seconds = { s: Math.floor(freshness.age / 1000) };
    document.body.dataset.age = state;
    put(byID("age-words"), state === "fresh" ? t.age_fresh : fill(t.age_old, seconds));
    byID("band").hidden = !this.stale;
    put(byID("band-words"), this.stale ? this.#band(state) : "");
    put(byID("band-age"), this.stale ? fill(t.band_age, seconds) : "");
  }

  #band(state) {
    if (this.status === "closed") return this.words.band_closed;
    return state === "lost" ? this.words.band_lost : this.words.band_stale;
  }
}

/** Goes to the sign-in, and from there back to this page. */
export function signIn() {
  const here = location.pathname + location.search;
  location.assign(`/support/sign-in?next=${encodeURIComponent(here)}`);
}
