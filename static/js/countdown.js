import { clock } from "./words.js";

// of a ring that is 100 long: its round ends are off it too, which WebKit would draw as a dot
const EMPTY = 105;

/**
 * <wr-countdown>: the time left until a moment of the server's clock. It ticks by itself and is silent for
 * screen readers; a listener to "wr-tick" may speak. At zero it shows data-over.
 */
export class Countdown extends HTMLElement {
  #timer = 0;
  #until = null;
  #whole = 1;
  #server = null;

  static observedAttributes = ["data-over"];

  attributeChangedCallback(_, before, now) {
    if (this.#server && before !== now) this.#tick();
  }

  /**
   * until: unix ms or null. whole: the full time in ms, for the ring; default: the time left at
   * this moment's first call.
   */
  run(server, until, whole) {
    const known = whole ?? (this.#until === until ? this.#whole : 1);
    this.#server = server;
    this.#until = until;
    this.#whole = Math.max(known, until == null ? 1 : until - server.now(), 1);
    this.#tick();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  #tick() {
    clearTimeout(this.#timer);
    const left = this.#until == null ? 0 : Math.max(this.#until - this.#server.now(), 0);
    const text = left === 0 && this.dataset.over ? this.dataset.over : clock(left);
    if (this.textContent !== text) this.textContent = text;
    this.#draw(left);
    if (this.#until != null) this.dispatchEvent(new CustomEvent("wr-tick", { detail: left }));
    if (left > 0) this.#timer = setTimeout(() => this.#tick(), left % 1000 || 1000);
  }

  #draw(left) {
    const ring = this.dataset.ring && document.getElementById(this.dataset.ring);
    if (!ring) return;
    // The ring glides for a second towards its next place: see the style sheet.
    const ahead = Math.max(left - 1000, 0);
    ring.setAttribute("stroke-dashoffset", String(ahead === 0 ? EMPTY : 100 - (100 * ahead) / this.#whole));
  }
}

customElements.define("wr-countdown", Countdown);
