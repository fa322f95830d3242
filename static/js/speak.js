const SETTLE = 400; // milliseconds: of changes that come together only the last is spoken

/**
 * The page's voice for screen readers. It takes a text, or a function that returns it at the moment of
 * speaking: a hidden page speaks later.
 */
export class Speaker {
  #polite = document.getElementById("say");
  #assertive = document.getElementById("shout");
  #timer = 0;

  say(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => put(this.#polite, text), SETTLE);
  }

  /** Takes a text back: it is not true any more, or holds a code that has to disappear. */
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

/** A screen reader speaks the same words again only when they are new to the element. */
function put(element, text) {
  cancelAnimationFrame(frames.get(element));
  element.textContent = "";
  if (!text) return;
  const say = () => (element.textContent = typeof text === "function" ? text() : text);
  frames.set(element, requestAnimationFrame(say));
}
