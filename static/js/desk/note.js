import { make } from "../dom.js";

const KEPT = 10000; // milliseconds that a result is shown and can be undone, unless its undo says

/** A line with the result of an action, for a while, with an undo where there is one. */
export class Note {
  #timer = 0;
  #undo = null;

  constructor(element) {
    this.element = element;
  }

  /** undo: {words, run, kept}. */
  show(text, undo = null) {
    clearTimeout(this.#timer);
    this.#undo = undo;
    this.element.replaceChildren(make("span", {}, text), undo ? this.#button(undo) : "");
    this.element.classList.add("said");
    this.#timer = setTimeout(() => this.clear(), undo?.kept ?? KEPT);
  }

  clear() {
    clearTimeout(this.#timer);
    this.#undo = null;
    this.element.replaceChildren();
    this.element.classList.remove("said");
  }

  /** Undoes the action, once; returns false if there is nothing to undo. */
  undo() {
    const undo = this.#undo;
    if (!undo) return false;
    this.clear();
    undo.run();
    return true;
  }

  #button({ words }) {
    const button = make("button", { type: "button", class: "link" }, words);
    button.addEventListener("click", () => this.undo());
    return button;
  }
}
