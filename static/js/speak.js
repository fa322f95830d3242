const SETTLE = 400; // milliseconds: of changes that come together only the last is spoken
const HOLD = 4000; // milliseconds: a screen reader on a slow machine misses a text that is gone sooner
const JUST_NOW = 1000; // milliseconds: a text goes along to another place, where it may be spoken again
const PACE = 20000; // milliseconds between two places in line that are not near yet

const timers = {
  now: () => performance.now(),
  after: (milliseconds, run) => setTimeout(run, milliseconds),
  cancel: (timer) => clearTimeout(timer),
};

/**
 * The page's voice for screen readers. A text is a string, or a function that returns it at the moment of
 * speaking: a hidden page speaks later. templates/testdata/speech.json has the rules as cases.
 */
export class Speaker {
  #write;
  #to;
  #timers;
  #saying; // timer of the next polite text
  #placing; // timer of the next place in line
  #holding; // timer of the end of an assertive text
  #said = ""; // the polite text on show
  #placed = -Infinity; // when the last place was spoken
  #shouted = null; // when the assertive text was written; null: there is none, or the page is hidden
  #ends = false; // whether the assertive text ends once it was there for long enough

  /** write(polite, text, done) shows a text, and calls done once it is there; to(place) moves all texts. */
  constructor({ write, to } = writer(), clock = timers) {
    this.#write = write;
    this.#to = to;
    this.#timers = clock;
  }

  say(text) {
    this.#timers.cancel(this.#saying);
    this.#saying = this.#timers.after(SETTLE, () => this.#speak(text));
  }

  /** Says a place in line. The next ones are said at once; all others at most every 20 s, the newest then. */
  place(text, near) {
    this.#timers.cancel(this.#placing);
    const pause = near ? 0 : this.#placed + PACE - this.#timers.now();
    this.#placing = this.#timers.after(Math.max(pause, SETTLE), () => {
      this.#placed = this.#timers.now();
      this.#speak(text);
    });
  }

  /** Breaks into what is being read. */
  shout(text) {
    this.#stop();
    this.#timers.cancel(this.#holding);
    this.#polite("");
    this.#ends = false;
    this.#shouted = null;
    this.#write(false, text, () => {
      this.#shouted = this.#timers.now();
      if (this.#ends) this.#end();
    });
  }

  /** Takes texts back that are not true any more. An assertive one was news: it stays until it was spoken. */
  hush() {
    this.#stop();
    this.#polite("");
    this.#ends = true;
    if (this.#shouted !== null) this.#end();
  }

  /** Removes all texts at once: one may hold a code that has to disappear. */
  forget() {
    this.#stop();
    this.#polite("");
    this.#timers.cancel(this.#holding);
    this.#shouted = null;
    this.#write(false, "", () => {});
  }

  /**
   * Speaks within another element from now on: screen readers hear nothing from around an open question. A
   * text is news again where it moves to, so only one that came just now goes along.
   */
  move(place) {
    this.#polite("");
    if (this.#shouted !== null) this.#end(JUST_NOW);
    this.#to(place);
  }

  /** hold: milliseconds that the assertive text is there at least. */
  #end(hold = HOLD) {
    this.#timers.cancel(this.#holding);
    const left = this.#shouted + hold - this.#timers.now();
    const clear = () => this.#write(false, "", () => {});
    if (left <= 0) clear();
    else this.#holding = this.#timers.after(left, clear);
  }

  /** Speaks a polite text, unless it is the one that was spoken last. */
  #speak(text) {
    const now = typeof text === "function" ? text() : text;
    if (now && now !== this.#said) this.#polite(now);
  }

  #polite(text) {
    this.#said = text;
    this.#write(true, text, () => {});
  }

  #stop() {
    this.#timers.cancel(this.#saying);
    this.#timers.cancel(this.#placing);
  }
}

/** A screen reader speaks the same words again only when they are new to the element. */
function writer() {
  const elements = { true: document.getElementById("say"), false: document.getElementById("shout") };
  const frames = {};
  const to = (place) => {
    for (const element of Object.values(elements))
      if (element.parentNode !== place) place.append(element);
  };
  const write = (polite, text, done) => {
    const element = elements[polite];
    cancelAnimationFrame(frames[polite]);
    element.textContent = "";
    if (!text) return done();
    frames[polite] = requestAnimationFrame(() => {
      element.textContent = typeof text === "function" ? text() : text;
      done();
    });
  };
  return { write, to };
}
