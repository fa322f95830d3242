import { fill } from "./words.js";
import { spoken } from "./view.js";

const MILESTONES = [60000, 30000, 10000]; // milliseconds left that are worth a word

/** Says, rings and titles what has changed; what is drawn is the view's. */
export class Narrator {
  #left = Infinity;

  constructor({ words, view, alert, speaker, server }) {
    Object.assign(this, { words, view, alert, speaker, server });
  }

  /** What the page itself brought needs no announcement, only its title. */
  begin(state) {
    this.#head(state);
    this.#left = this.#rest(state);
  }

  tell(state, before, pressed) {
    this.#head(state);
    if (state.status === "locked") this.#turn(state, before, pressed);
    else if (before.status === "locked") this.alert.over();
    if (state.status === "waiting") this.#waiting(state, before);
    if (state.status === "ended" && before.status !== "ended") this.#ended();
    if (state.paused !== before.paused && state.status === "waiting") this.#paused(state.paused);
  }

  /** A message has come. Only a code that may be entered is worth breaking into what is being read. */
  message({ code, text, late }, status) {
    const t = this.words;
    if (late && status !== "ended") this.speaker.say(t.say_past);
    else if (code) this.speaker.shout(`${late ? `${t.late_title}. ` : ""}${fill(t.say_code, { code: [...code].join(" ") })}`);
    else this.speaker.say(fill(t.say_text, { text }));
    if (!late || status === "ended") this.alert.message(code !== "");
    this.#head(this.view.state);
  }

  forget() {
    this.speaker.hush();
    this.#head(this.view.state);
  }

  /** A message waits to be claimed. */
  unclaimed() {
    this.speaker.say(this.words.say_unclaimed);
    this.alert.message(false);
  }

  /** My turn goes on to another step by itself, or because I pressed. */
  step(step, before) {
    const { title, lead } = this.words.turn[step] ?? {};
    if (step === "busy") this.#busy();
    else if (step === "ask" && before === "busy") this.speaker.say(this.words.say_free);
    else if (step === "asked" || step === "again") this.speaker.say(`${title}. ${lead}`);
  }

  /** The countdown is silent; a few moments of it are not. */
  tick(left) {
    this.alert.title(this.view.title(left));
    const passed = MILESTONES.find((at) => left <= at && this.#left > at);
    this.#left = left;
    if (passed && left > 0) this.speaker.say(fill(this.words.say_left, { left: spoken(this.words, left) }));
  }

  #turn(state, before, pressed) {
    if (before.status === "locked" && before.fence === state.fence) return;
    const left = this.#rest(state);
    this.#left = left;
    this.speaker.shout(fill(this.words.say_turn, { left: spoken(this.words, left) }));
    if (this.view.turn.step === "busy") this.#busy();
    if (!pressed) this.alert.turn();
  }

  #busy() {
    const left = this.view.state.codes.ask_after - this.server.now();
    this.speaker.say(fill(this.words.say_busy, { left: spoken(this.words, left) }));
  }

  #waiting(state, before) {
    if (before.status === "waiting" && before.queue_position === state.queue_position) return;
    const values = { n: state.queue_position, ahead: this.view.aheadWords, wait: this.view.waitWords };
    this.speaker.say(fill(this.words.say_waiting, values));
  }

  #ended() {
    const { title, lead } = this.view.ending;
    this.speaker.say(`${title}. ${lead}`);
  }

  #paused(paused) {
    this.speaker.say(paused ? this.words.say_paused : this.words.say_resumed);
  }

  #head(state) {
    this.alert.icon(state.status === "locked");
    this.alert.title(this.view.title(this.#rest(state)));
  }

  #rest(state) {
    return state.lease_expires_at == null ? 0 : Math.max(state.lease_expires_at - this.server.now(), 0);
  }
}
