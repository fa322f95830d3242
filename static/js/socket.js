import { backoff } from "./backoff.js";

const SILENCE = 40000; // milliseconds; the server says something every 25 s
const HANDSHAKE = 10000; // milliseconds until the first word: a proxy may take a handshake and never answer it

/**
 * A socket that is always there: it comes back after a break by itself, unless it was told
 * not to. onStatus hears "connecting", "open", "lost" or "closed", and with the last two the
 * code of the close; open is when a frame of the type "first" has come, because only then is
 * what the page shows true again. silence: after so many ms without a word it is lost. protocols
 * says, or promises, what to ask for by each opening; where it can not, that counts as a break.
 */
export class RoomSocket {
  #socket = null;
  #opening = null;
  #told = false; // that it is open
  #attempt = 0;
  #retry = 0;
  #watch = 0;
  #over = false;

  constructor({ url, onFrame, onStatus, protocols = () => [], first = "state", silence = SILENCE }) {
    Object.assign(this, { url, onFrame, onStatus, protocols, first, silence });
  }

  start() {
    this.onStatus("connecting");
    this.#open();
  }

  /** Starts over at once: after sleep or a change of network a socket may only look alive. */
  renew() {
    if (this.#over) return;
    this.#attempt = 0;
    this.#open();
  }

  /** Comes back for a whole state, after a pause that grows: what was told did not fit together, or the network is gone. */
  again() {
    if (!this.#over) this.#lost(0);
  }

  /** Starts over although it was told not to come back: as somebody else. */
  restart() {
    this.#over = false;
    this.#lost(0);
  }

  /** Lets go without coming back, for a page that is being put away. */
  rest() {
    this.#drop();
  }

  async #open() {
    this.#drop();
    const opening = (this.#opening = {});
    this.#listen();
    let protocols;
    try {
      protocols = await this.protocols();
    } catch {
      if (opening === this.#opening) this.#lost(0);
      return;
    }
    if (opening === this.#opening) this.#connect(protocols);
  }

  #connect(protocols) {
    const socket = new WebSocket(this.url, protocols);
    this.#socket = socket;
    this.#listen(Math.min(HANDSHAKE, this.silence));
    socket.addEventListener("message", (event) => this.#heard(socket, event.data));
    socket.addEventListener("close", (event) => {
      if (socket === this.#socket) this.#lost(event.code);
    });
  }

  #heard(socket, data) {
    if (socket !== this.#socket) return;
    this.#listen();
    const frame = parse(data);
    if (!frame) return;
    if (frame.type === "ping") socket.send('{"type":"pong"}');
    if (frame.type === this.first) {
      this.#attempt = 0;
      if (!this.#told) this.onStatus("open");
      this.#told = true;
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
    this.onStatus("lost", code);
    this.#retry = setTimeout(() => this.#open(), backoff(this.#attempt++));
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
    this.#told = false;
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
