import { backoff } from "./backoff.js";

const SILENCE = 40000; // milliseconds; the server sends a frame every 25 s
// milliseconds until the first frame: a proxy may take a handshake and never answer it
const HANDSHAKE = 10000;
const BROKEN = 1006; // the close code of a socket that failed (RFC 6455, 7.1.5)

/**
 * A socket that reconnects after every break, unless the server forbids it. onStatus receives "connecting",
 * "open", "lost" or "closed", the last two with the close code. "open" comes with the first frame of the type
 * "first", which makes the page current. silence: milliseconds without a frame after which it is lost.
 * protocols returns, or promises, the protocols of each opening; its failure counts as a break.
 */
export class RoomSocket {
  #socket = null;
  #opening = null;
  #reported = false; // whether onStatus received "open"
  #attempt = 0;
  #retry = 0;
  #watch = 0;
  #over = false;

  constructor({ url, onFrame, onStatus, protocols = () => [], first = "state", silence = SILENCE }) {
    Object.assign(this, { url, onFrame, onStatus, protocols, first, silence });
  }

  start() {
    this.#open(); // before the status: onStatus may put the socket to rest
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
    const opening = (this.#opening = {});
    this.#listen();
    try {
      const protocols = await this.protocols();
      if (opening === this.#opening) this.#connect(protocols);
    } catch {
      if (opening === this.#opening) this.#lost(0); // also where a protocol is no word
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
    // Node has no other event for a socket that did not open. In browsers, "close" follows with its code.
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
    this.#retry = setTimeout(() => this.#open(), backoff(this.#attempt++)); // before the status, as in start
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
    if (socket && socket.readyState < WebSocket.CLOSING) socket.close(1000);
  }
}

function parse(data) {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
