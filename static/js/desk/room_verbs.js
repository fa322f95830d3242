import { fill, isolated } from "../words.js";
import { announced, setUntil } from "./standing.js";
import { stamp } from "./times.js";
import { undoOf } from "./undo.js";
import { HOURS, chosenUntil, untils } from "./until.js";

/** Support's actions on a whole room. */
export class RoomVerbs {
  /** note shows the results; hours: the room has opening hours. */
  constructor({ words, model, server, dialog, api, note, hours }) {
    Object.assign(this, { words, model, server, dialog, api, note, hours });
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

  /** Opens a closed room, and closes an open one. */
  openOrClose() {
    const { closed } = this.model;
    const verb = closed ? "open" : "close";
    let before; // until when support had closed it, or opened it
    this.dialog.ask({
      ...this.#ofRoom(verb),
      choices: this.#howLong(closed),
      effect: ({ choice }) => (closed ? this.#opening(choice) : this.#closing(choice)),
      outdated: () =>
        this.model.closed === closed ? "" : this.words.outdated[closed ? "opened" : "closed"],
      body: ({ choice }) => {
        before = this.#set(closed ? "closed_until" : "open_until");
        return this.#until(choice);
      },
      done: () => {
        const undo = before ? { until: new Date(before).toISOString() } : {};
        this.#done(verb, this.#undo(closed ? "close" : "open", undo));
      },
    });
  }

  /** Announces a text to all readers of the room. incident: the one whose texts are offered first, if any. */
  announce({ incident, back } = {}) {
    let former;
    this.dialog.ask({
      ...this.#ofRoom("announce"),
      back,
      wording: { incident },
      choices: { legend: "until", of: untils(this.words, this.server.now()) },
      effect: ({ choice }) =>
        this.#effect(announced(this.model, this.server.now()) ? "announce_instead" : "announce", {
          time: this.#time(choice),
        }),
      outdated: () => "",
      body: ({ choice, texts, level }) => {
        former = this.#announcement();
        return { text: texts, level, ...this.#until(choice) };
      },
      done: () => this.#done("announce", this.#undo("announce", former)),
    });
  }

  takeBack(back) {
    let former;
    this.dialog.ask({
      ...this.#ofRoom("take_back"),
      path: "announce",
      back,
      effect: () => this.#effect("take_back"),
      outdated: () => (announced(this.model, this.server.now()) ? "" : this.words.outdated.take_back),
      body: () => {
        former = this.#announcement();
        return { text: null };
      },
      done: () => this.#done("take_back", this.#undo("announce", former)),
    });
  }

  #ofRoom(verb) {
    return { verb, about: "line", who: fill(this.words.people, { n: this.model.line.length }) };
  }

  /** Returns the body of an announcement as it is now. */
  #announcement() {
    const now = announced(this.model, this.server.now());
    if (!now) return { text: null };
    const text = Object.fromEntries(now.texts.map(({ lang, text: words }) => [lang, words]));
    return { text, level: now.level, until: new Date(now.until).toISOString() };
  }

  #pausing(paused) {
    const { line, next } = this.model;
    if (!paused) return this.#effect("pause", { n: line.length });
    return next
      ? this.#effect("resume_next", { next: this.#name(next) })
      : this.#effect("resume_nobody");
  }

  /** Returns the choices of a time; null for what support closed, which opens for good. */
  #howLong(closed) {
    if (closed && this.#set("closed_until")) return null;
    const latest = closed ? this.model.opensAt : Infinity;
    return { legend: "until", of: untils(this.words, this.server.now(), { hours: this.hours, latest }) };
  }

  #opening(choice) {
    if (!choice) return this.#effect("open_again");
    const time = choice === HOURS ? this.#stamp(this.model.opensAt ?? 0) : this.#time(choice);
    return this.#effect("open", { time });
  }

  #closing(choice) {
    if (choice === HOURS) return this.#effect("close_hours");
    return this.#effect("close", { time: this.#time(choice) });
  }

  #set(name) {
    return setUntil(this.model, name, this.server.now());
  }

  #until(choice) {
    const until = chosenUntil(choice, this.server.now());
    return until ? { until: new Date(until).toISOString() } : {};
  }

  #time(choice) {
    return this.#stamp(chosenUntil(choice, this.server.now()));
  }

  #stamp(at) {
    return stamp(at, this.server.now(), "minute");
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
