const NOTES = [659.25, 830.61, 987.77]; // E5 G#5 B5, in hertz
const STEP = 0.16; // seconds from note to note
const PATIENCE = 1000; // milliseconds that a sound may take to wake up

/**
 * The sound of a turn. Browsers stay silent until a press, so the first one arms it; a telephone call or a
 * headset may stop it again on a phone.
 */
export class Chime {
  #context = null;
  #again = 0;
  #ran = false; // it was audible before
  #stopped = false; // it was audible or should have been, and is not

  /** Called when the state changes. */
  onChange = () => {};

  /** "on", "off" (not armed yet) or "stopped" (inaudible, unless another press helps). */
  get state() {
    if (this.armed) return "on";
    return this.#stopped ? "stopped" : "off";
  }

  get armed() {
    return this.#context?.state === "running";
  }

  /** Call it for a press. Resolves when the sound is audible, or cannot be. */
  async arm() {
    try {
      this.#context ??= this.#open();
      // Safari's state is "interrupted" where the system has stopped it; a resume may stay unanswered then.
      if (!this.armed) await Promise.race([this.#context.resume(), wait(PATIENCE)]);
    } catch {
      // no way to make a sound here
    }
    if (!this.armed) return;
    this.#ran = true; // the statechange event may come later than this
    this.#see(false);
  }

  play() {
    if (!this.armed) return this.#see(true);
    const context = this.#context;
    NOTES.forEach((pitch, i) => strike(context, pitch, context.currentTime + i * STEP));
  }

  /** Plays up to so many times, until a press. */
  call(times) {
    clearTimeout(this.#again);
    this.play();
    if (times > 1) this.#again = setTimeout(() => this.call(times - 1), 4000);
  }

  hush() {
    clearTimeout(this.#again);
  }

  #open() {
    const context = new AudioContext();
    context.addEventListener("statechange", () => {
      this.#ran ||= this.armed;
      this.#see(this.#ran && !this.armed);
    });
    return context;
  }

  #see(stopped) {
    this.#stopped = stopped;
    this.onChange();
  }
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
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
