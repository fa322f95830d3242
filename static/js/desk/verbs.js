import { fill, isolated, timeOfDay } from "../words.js";
import { undoOf } from "./undo.js";

const SECONDS = [30, 60, 120];
const RESTORABLE = 55000; // milliseconds; the server has five seconds more
const SHOWN = 600000; // milliseconds after its arrival in which an assigned message is shown

/**
 * Support's actions on a seller or a message. Each verb has the dialog's question, its request, and
 * the words for its result.
 */
export class Verbs {
  /**
   * notes: {holder, line}, each with show; mark(ticket, words): in the row;
   * result(key, words): at the message.
   */
  constructor({ words, model, items, server, dialog, api, notes, mark, result, unit }) {
    Object.assign(this, { words, model, items, server, dialog, api, notes, mark, result, unit });
  }

  extend(back) {
    const { holder } = this.model;
    if (!holder) return;
    const until = ({ choice }) =>
      timeOfDay(new Date((this.model.holder ?? holder).expires_at + choice * 1000));
    this.dialog.ask({
      ...this.#ofHolder("extend", holder, back),
      choices: {
        legend: "seconds",
        of: SECONDS.map((s) => ({ value: s, words: fill(this.unit, { n: s }), picked: s === 60 })),
      },
      effect: (values) => this.#effect("extend", { seller: holder.seller_id, time: until(values) }),
      body: ({ choice }) => ({ fence: holder.fence, seconds: Number(choice) }),
      done: (_, { choice }) => this.notes.holder.show(this.#done("extend", { s: choice })),
    });
  }

  release(back) {
    const { holder } = this.model;
    if (!holder) return;
    this.dialog.ask({
      ...this.#ofHolder("release", holder, back),
      danger: true,
      effect: () => this.#handoff(),
      body: () => ({ fence: holder.fence }),
      done: () => {
        const words = this.#done("release", { seller: holder.seller_id });
        this.notes.holder.show(words, this.#restore(holder, this.notes.holder));
      },
    });
  }

  move(row, back) {
    let place;
    this.dialog.ask({
      ...this.#ofRow("move", row, back),
      position: { value: "", max: this.model.line.length },
      effect: ({ position }) => this.#moving(row, position),
      body: ({ position }) => {
        place = this.#place(row);
        return { ticket: row.ticket, position };
      },
      done: (_, { position }) => this.#moved(row, place, position),
    });
  }

  /** Removes a seller, or all who came from the same address. */
  remove(row, back) {
    let same; // the waiters of that address, where there are several
    const all = ({ choice }) => choice === "all";
    const choices = async () => {
      same = (await this.api.addresses()).find(({ tickets }) => tickets.includes(row.ticket));
      return same && this.#places(same);
    };
    this.dialog.ask({
      ...this.#ofRow("remove", row, back),
      danger: true,
      later: choices(),
      effect: (values) =>
        all(values)
          ? this.#effect("remove_all", { n: same.tickets.length })
          : this.#effect("remove", { seller: row.seller }),
      body: (values) => (all(values) ? { tickets: same.tickets } : { ticket: row.ticket }),
      done: ({ removed: n }, values) => {
        if (all(values)) return this.notes.line.show(this.#effect("removed_all", { n }));
        const words = this.#done("remove", { seller: row.seller });
        return this.notes.line.show(words, this.#restore(row, this.notes.line));
      },
    });
  }

  /** Assigns a message to one of the leases that it could belong to. */
  assign(item, lease, back) {
    const choice = (one) => ({
      value: one.fence,
      words: this.#name(one.seller_id, one.ticket),
      picked: one === lease,
    });
    const chosen = ({ choice: fence }) => item.could.find((one) => String(one.fence) === fence) ?? lease;
    this.dialog.ask({
      verb: "assign",
      back,
      about: "message",
      who: `${item.from} · ${item.text}`,
      choices: { legend: "lease", of: item.could.map(choice) },
      effect: (values) => this.#giving(item, chosen(values)),
      outdated: () => (this.items.get(item.key)?.assignable ? "" : this.words.outdated.message),
      body: (values) => ({ message_id: item.message_id, fence: chosen(values).fence }),
      done: ({ shown }, values) => this.result(item, this.#given(shown, chosen(values))),
    });
  }

  #places({ address, tickets }) {
    const words = this.#effect("remove_address", { address, n: tickets.length });
    const only = { value: "only", words: this.#effect("remove_only"), picked: true };
    return { legend: "places", of: [only, { value: "all", words }] };
  }

  #ofHolder(verb, { seller_id: seller, ticket, fence }, back) {
    const outdated = () => (this.model.holder?.fence === fence ? "" : this.words.outdated.holder);
    return { verb, back, who: this.#name(seller, ticket), outdated };
  }

  #ofRow(verb, row, back) {
    return { verb, back, who: this.#name(row.seller, row.ticket), outdated: () => this.#left(row) };
  }

  /** Returns why a seller is not in the line any more; "" for one who is. */
  #left({ ticket, seller }) {
    if (this.model.find(ticket)) return "";
    return fill(this.words.outdated[this.model.holder?.ticket === ticket ? "turn" : "gone"], { seller });
  }

  #handoff() {
    const { paused, next } = this.model;
    if (paused) return this.#effect("release_paused");
    return next
      ? this.#effect("release_next", { next: this.#name(next.seller, next.ticket) })
      : this.#effect("release_nobody");
  }

  #moving(row, to) {
    const from = this.model.position(row.ticket);
    const last = this.model.line.length;
    if (to < 1 || Math.min(to, last) === from) return this.#effect("move_same", { from });
    return this.#effect("move", { from, to: Math.min(to, last), n: Math.abs(Math.min(to, last) - from) });
  }

  #giving(item, { seller_id: seller }) {
    const fresh = this.server.now() - item.at < SHOWN;
    return this.#effect(fresh ? "assign_fresh" : "assign_old", { seller });
  }

  #given(shown, { seller_id: seller }) {
    const effect = this.words.effects[shown ? "assigned_shown" : "assigned_not"];
    return `${this.#done("assign", { seller })} · ${effect}`;
  }

  #moved(row, place, to) {
    const words = this.#done("move", { seller: row.seller, position: Math.min(to, this.model.line.length) });
    this.mark(row.ticket, this.words.moved_to);
    const body = () => ({ ticket: row.ticket, position: this.#former(row, place) });
    this.notes.line.show(words, this.#undo("move", body, this.notes.line));
  }

  /** Returns a seller's position, and who comes next, which stays true when others leave. */
  #place({ ticket }) {
    const position = this.model.position(ticket);
    return { position, behind: this.model.line[position]?.ticket };
  }

  /** Returns the position that brings a seller back to a former place. */
  #former({ ticket }, { position, behind }) {
    const next = this.model.position(behind);
    if (next === 0) return Math.min(position, this.model.line.length) || 1;
    const now = this.model.position(ticket);
    return now > 0 && now < next ? next - 1 : next;
  }

  /** Returns the undo that puts a seller back at the front of the line. */
  #restore({ ticket }, note) {
    const { restore } = this.words.outdated;
    const undo = this.#undo("restore", () => ({ ticket }), note, {
      stale_ticket: restore,
      seller_has_place: restore,
    });
    return { ...undo, words: this.words.restore, kept: RESTORABLE };
  }

  #undo(verb, body, note, refusals) {
    return undoOf(this, verb, body, note, refusals);
  }

  #name(seller, ticket) {
    return `${isolated(seller)} · ${fill(this.words.ticket, { ticket })}`;
  }

  #effect(name, values = {}) {
    return fill(this.words.effects[name], values);
  }

  #done(verb, values) {
    return fill(this.words.act[verb].done, values);
  }
}
