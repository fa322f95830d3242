const SETTLE = 400; // milliseconds: of changes that come together only the last is said

/** The page's voice for screen readers. What is said is a text, or what makes it at the moment it is said: a hidden page says it later. */
export class Speaker {
  #polite = document.getElementById("say");
  #assertive = document.getElementById("shout");
  #timer = 0;

  say(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => put(this.#polite, text), SETTLE);
  }

  /** Takes back what was said: it is not true any more, or holds a code that is to be forgotten. */
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
  if (!text) return;
  const say = () => (element.textContent = typeof text === "function" ? text() : text);
  frames.set(element, requestAnimationFrame(say));
}
