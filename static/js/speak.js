const SETTLE = 400; // milliseconds: of changes that come together only the last is said

/** The page's voice for screen readers. */
export class Speaker {
  #polite = document.getElementById("say");
  #assertive = document.getElementById("shout");
  #timer = 0;

  say(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => put(this.#polite, text), SETTLE);
  }

  /** Takes back what was said: it may hold a code that is to be forgotten. */
  hush() {
    clearTimeout(this.#timer);
    put(this.#polite, "");
    put(this.#assertive, "");
  }

  shout(text) {
    clearTimeout(this.#timer);
    put(this.#polite, "");
    put(this.#assertive, text);
  }
}

const frames = new WeakMap();

/** The same words again are only spoken when they are new to the element. */
function put(element, text) {
  cancelAnimationFrame(frames.get(element));
  element.textContent = "";
  if (text) frames.set(element, requestAnimationFrame(() => (element.textContent = text)));
}
