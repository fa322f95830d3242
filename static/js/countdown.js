import { clock } from "./words.js";

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
   * until: unix ms or null. whole: the full time in ms, for the bar; default: the time left at
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
    const bar = this.dataset.bar && document.getElementById(this.dataset.bar);
    if (!bar) return;
    // The bar glides for a second towards its next place: see the style sheet.
    bar.value = (100 * Math.max(left - 1000, 0)) / this.#whole;
  }
}

customElements.define("wr-countdown", Countdown);
