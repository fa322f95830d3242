import { clock } from "./words.js";

const EMPTY = 105; // of a ring that is 100 long: its round ends are off it too, which WebKit would draw as a dot

/**
 * <wr-countdown>: what is left until a moment of the server's clock. It ticks by itself and
 * is silent for screen readers; whoever wants to speak of it listens to "wr-tick". data-over is
 * what stands there when nothing is left.
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

  /** until: unix ms or null; whole: the full time in ms, for the ring; without it, what was left when that moment was first given. */
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
    // The ring glides for a second towards where it will be: see the style sheet.
    const ahead = Math.max(left - 1000, 0);
    ring.setAttribute("stroke-dashoffset", String(ahead === 0 ? EMPTY : 100 - (100 * ahead) / this.#whole));
  }
}

customElements.define("wr-countdown", Countdown);
