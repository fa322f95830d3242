const NOTES = [659.25, 830.61, 987.77]; // E5 G#5 B5, in hertz
const STEP = 0.16; // seconds from note to note

/**
 * The sound of a turn. Browsers stay silent until somebody has pressed something, so it is
 * armed by the first press.
 */
export class Chime {
  #context = null;
  #again = 0;

  /** Hears that it can be heard now, or not any more. */
  onChange = () => {};

  get armed() {
    return this.#context?.state === "running";
  }

  arm() {
    const Context = window.AudioContext;
    if (!Context) return;
    if (!this.#context) {
      this.#context = new Context();
      this.#context.addEventListener("statechange", () => this.onChange());
    }
    if (this.#context.state === "suspended") this.#context.resume().catch(() => {});
  }

  play() {
    const context = this.#context;
    if (!context || context.state !== "running") return;
    NOTES.forEach((pitch, i) => strike(context, pitch, context.currentTime + i * STEP));
  }

  /** Plays up to so many times, until somebody is back at the page. */
  call(times) {
    clearTimeout(this.#again);
    this.play();
    if (times > 1) this.#again = setTimeout(() => this.call(times - 1), 4000);
  }

  hush() {
    clearTimeout(this.#again);
  }
}

function strike(context, pitch, at) {
  const gain = context.createGain();
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(0.22, at + 0.015);
  gain.gain.exponentialRampToValueAtTime(0.001, at + 0.9);
  gain.connect(context.destination);
  for (const [multiple, share] of [[1, 1], [2, 0.25]]) {
    const tone = context.createOscillator();
    const part = context.createGain();
    tone.frequency.value = pitch * multiple;
    part.gain.value = share;
    tone.connect(part).connect(gain);
    tone.start(at);
    tone.stop(at + 1);
  }
}
