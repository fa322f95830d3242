/** The menu of a row: one for all rows, placed at the button that opened it. */
export class RowMenu {
  #asked = null;
  #pressed = false; // a key was pressed in it: the key that opened it, held down, must not pick too

  constructor(element) {
    this.element = element;
    element.addEventListener("click", (event) => this.#click(event));
    element.addEventListener("keydown", (event) => this.#press(event));
    element.addEventListener("toggle", (event) => event.newState === "closed" && this.#closed());
  }

  /** asked: {timeline, act(verb), back()}; back returns the focus where the agent picked nothing. */
  open(button, asked) {
    this.#asked = asked;
    this.#pressed = false;
    this.element.querySelector("[data-timeline]").href = asked.timeline;
    this.element.showPopover();
    this.#place(button.getBoundingClientRect());
    this.#entries[0].focus();
  }

  get #entries() {
    return [...this.element.querySelectorAll("[role=menuitem]")];
  }

  #place({ right, top, bottom }) {
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const below = bottom + height < window.innerHeight;
    this.element.style.left = `${Math.max(right - width, 8)}px`;
    this.element.style.top = `${below ? bottom : Math.max(top - height, 8)}px`;
  }

  #click(event) {
    const byKey = event.detail === 0 && event.isTrusted;
    if (byKey && !this.#pressed) event.preventDefault();
    else this.#pick(event.target.closest("[data-verb]"));
  }

  #pick(entry) {
    if (!entry) return;
    const { act } = this.#asked;
    this.#asked = null;
    this.element.hidePopover();
    act(entry.dataset.verb);
  }

  #press(event) {
    if (!event.repeat) this.#pressed = true;
    const entries = this.#entries;
    const at = entries.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1, j: at + 1, k: at - 1 }[event.key];
    if (event.key === "Tab") this.element.hidePopover();
    if (event.key === "Escape") this.#escape(event);
    if (to === undefined) return;
    event.preventDefault();
    entries[(to + entries.length) % entries.length].focus();
  }

  /** Returns the focus at once: the toggle event comes later, when the agent may be in another field. */
  #escape(event) {
    event.preventDefault();
    this.element.hidePopover();
    this.#closed();
  }

  #closed() {
    const { back } = this.#asked ?? {};
    this.#asked = null;
    back?.();
  }
}
