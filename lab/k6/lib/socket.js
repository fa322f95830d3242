import { WebSocket } from "k6/websockets";
import { holds } from "./holds.js";
import { parse } from "./http.js";
import { backMs, closed, firstFrameMs, frames, opened } from "./metrics.js";
import { settings } from "./settings.js";

const FIRST_TRY = 1000; // ms: the contract's full jitter, first try within a second, cap 20 s
const SLOWEST_TRY = 20000;
const KINDS = new Set(["state", "sms", "sms_unclaimed", "notice"]);

/**
 * Socket is one browser tab's connection: it answers pings and reconnects with full jitter. It checks what
 * holds for every socket: the first frame is a state, and versions never go back within an epoch.
 */
export class Socket {
  /**
   * observed is called with every frame but pings. gone is how long (ms) the browser had no
   * connection before it, or 0.
   */
  constructor(path, headers, observed, kinds = KINDS) {
    Object.assign(this, {
      path,
      headers,
      observed,
      kinds,
      ws: null,
      wanted: false,
      tries: 0,
      lostAt: 0,
      batch: 0,
    });
  }

  open() {
    this.wanted = true;
    this.begin();
  }

  begin() {
    const since = Date.now();
    const ws = new WebSocket(settings.sockets + this.path, null, {
      headers: this.headers,
      tags: { name: "ws" },
    });
    let live = false;
    let first = true;
    let epoch = 0;
    let version = 0;
    this.ws = ws;
    const lost = (code) => {
      if (live) closed.add(1);
      live = false;
      this.flush();
      if (this.ws === ws) this.lost(code);
    };
    ws.onopen = () => {
      live = true;
      opened.add(1);
    };
    ws.onclose = (e) => lost(e.code);
    ws.onerror = () => lost(1006);
    ws.onmessage = (e) => {
      const frame = parse(e.data);
      this.count();
      if (this.ws !== ws) return; // this side closed it: its last frames belong to no tab
      if (frame === null) return void holds("a frame is JSON", false, e.data);
      if (frame.type === "ping") return ws.send('{"type":"pong"}');
      if (!this.kinds.has(frame.type)) return void holds("a frame's type is known", false, e.data);
      let gone = 0;
      if (first) {
        gone = this.first(frame, since);
        first = false;
      }
      if (frame.epoch !== undefined) {
        const forward = frame.epoch > epoch || (frame.epoch === epoch && frame.version >= version);
        if (!forward)
          holds("versions never go back on a socket", false, `${epoch}/${version}, then ${e.data}`);
        ({ epoch, version } = frame);
      }
      this.observed(frame, gone);
    };
  }

  /** first measures the time to the first frame. */
  first(frame, since) {
    holds("the first frame is the whole state", frame.type === "state" || frame.type === "desk", frame.type);
    const now = Date.now();
    this.tries = 0;
    firstFrameMs.add(now - since);
    if (!this.lostAt) return 0;
    const gone = now - this.lostAt;
    backMs.add(gone);
    this.lostAt = 0;
    return gone;
  }

  lost(code) {
    this.ws = null;
    if (!this.wanted) return;
    if (code >= 4500 && code < 5000) {
      holds("the server does not send a good client away", false, `close code ${code}`);
      return;
    }
    if (!this.lostAt) this.lostAt = Date.now();
    const most = Math.min(FIRST_TRY * 2 ** this.tries, SLOWEST_TRY);
    this.tries++;
    setTimeout(() => this.wanted && !this.ws && this.begin(), Math.random() * most);
  }

  /** drop loses the connection as a network would; the socket then reconnects. */
  drop() {
    const ws = this.ws;
    if (!ws || ws.readyState !== 1) return;
    this.lost(1006);
    ws.close();
  }

  close() {
    this.wanted = false;
    const ws = this.ws;
    this.ws = null;
    if (ws && ws.readyState <= 1) ws.close();
    this.flush();
  }

  /** count adds frames up: a sample for each would cost more than the frame. */
  count() {
    if (++this.batch >= 20) this.flush();
  }

  flush() {
    if (this.batch > 0) frames.add(this.batch);
    this.batch = 0;
  }
}
