import { fill, isolated } from "../words.js";
import { undoOf } from "./undo.js";

/** Support's actions on a whole room. */
export class RoomVerbs {
  /** note shows the results. */
  constructor({ words, model, dialog, api, note }) {
    Object.assign(this, { words, model, dialog, api, note });
  }

  /** Pauses the room; lets a paused one go on. */
  pause() {
    const { paused } = this.model;
    const verb = paused ? "resume" : "pause";
    this.dialog.ask({
      ...this.#ofRoom(verb),
      effect: () => this.#pausing(paused),
      outdated: () =>
        this.model.paused === paused ? "" : this.words.outdated[paused ? "resumed" : "paused"],
      body: () => ({}),
      done: () => this.#done(verb, paused ? null : this.#undo("resume", {})),
    });
  }

  #ofRoom(verb) {
    return { verb, about: "line", who: fill(this.words.people, { n: this.model.line.length }) };
  }

  #pausing(paused) {
    const { line, next } = this.model;
    if (!paused) return this.#effect("pause", { n: line.length });
    return next
      ? this.#effect("resume_next", { next: this.#name(next) })
      : this.#effect("resume_nobody");
  }

  #done(verb, undo) {
    this.note.show(this.words.act[verb].done, undo);
  }

  #undo(verb, body) {
    return undoOf(this, verb, () => body, this.note);
  }

  #name({ seller, ticket }) {
    return `${isolated(seller)} · ${fill(this.words.ticket, { ticket })}`;
  }

  #effect(name, values = {}) {
    return fill(this.words.effects[name], values);
  }
}
