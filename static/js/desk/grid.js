import { Windowed } from "./window.js";

/**
 * A windowed table with keyboard control: one row is picked, and stays picked wherever its item moves. When
 * the item is gone, the one in its place is picked.
 */
export class Grid {
  #things = [];
  #picked = null; // key
  #at = 0; // its last index

  /** root: role=grid; onOpen(thing, row): Enter on a row. The rest as Windowed's. */
  constructor({ root, rows, make, draw, key, onOpen }) {
    this.root = root;
    this.key = key;
    this.onOpen = onOpen;
    this.window = new Windowed({
      scroller: rows,
      make,
      draw: (row, thing, i) => this.#draw(draw, row, thing, i),
      key,
    });
    rows.addEventListener("keydown", (event) => this.#press(event));
    rows.addEventListener("focusin", (event) => this.#focused(event.target));
  }

  show(things) {
    this.#things = things;
    this.root.setAttribute("aria-rowcount", String(things.length + 1));
    this.#follow();
    this.window.show(things);
  }

  redraw() {
    this.window.redraw();
  }

  get picked() {
    return this.#things[this.#index()];
  }

  /** Picks the row that is so many further down, and goes to it. */
  move(by) {
    if (this.#things.length === 0) return;
    const at = this.#index();
    this.#pick(at < 0 ? 0 : at + by);
  }

  open() {
    const thing = this.picked;
    if (!thing) return;
    this.window.reveal(this.#at, true);
    this.onOpen(thing, this.window.row(this.key(thing)));
  }

  focus() {
    if (this.#things.length > 0) this.#pick(Math.max(this.#index(), 0));
  }

  row(key) {
    return this.window.row(key);
  }

  /** Clears the pick: the next list is another one. */
  forget() {
    this.#picked = null;
    this.#at = 0;
  }

  #pick(index) {
    this.#at = Math.max(Math.min(index, this.#things.length - 1), 0);
    this.#picked = this.key(this.#things[this.#at]);
    this.window.reveal(this.#at, true);
  }

  #index() {
    if (this.#picked == null) return -1;
    const here = this.#things[this.#at];
    if (here && this.key(here) === this.#picked) return this.#at;
    return this.#things.findIndex((thing) => this.key(thing) === this.#picked);
  }

  /** Runs after a change: finds the picked item's index, or picks the item in its place. */
  #follow() {
    if (this.#picked == null) return;
    const at = this.#index();
    if (at >= 0) this.#at = at;
    else if (this.#things.length > 0) this.#replace();
  }

  #replace() {
    const focused = this.row(this.#picked)?.contains(document.activeElement);
    this.#at = Math.min(this.#at, this.#things.length - 1);
    this.#picked = this.key(this.#things[this.#at]);
    if (focused) requestAnimationFrame(() => this.row(this.#picked)?.focus({ preventScroll: true }));
  }

  #draw(draw, row, thing, index) {
    const key = this.key(thing);
    const picked = key === this.#picked;
    set(row, "aria-rowindex", String(index + 2));
    set(row, "aria-selected", String(picked));
    const stop = picked || (this.#index() < 0 && index === 0) ? "0" : "-1";
    set(row, "tabindex", stop);
    row.dataset.key = key;
    draw(row, thing, index);
  }

  #focused(target) {
    const row = target.closest("[role=row]");
    if (!row || row.dataset.key === String(this.#picked)) return;
    const at = this.#things.findIndex((thing) => String(this.key(thing)) === row.dataset.key);
    if (at < 0) return;
    this.#at = at;
    this.#picked = this.key(this.#things[at]);
    this.redraw();
  }

  #press(event) {
    if (event.target.closest("[role=row]") !== event.target) return;
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: this.window.page,
      PageUp: -this.window.page,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key === "Enter") this.open();
    else if (event.key in steps) this.move(steps[event.key]);
    else return;
    event.preventDefault();
  }
}

function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
