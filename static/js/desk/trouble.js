import { byID, make } from "../dom.js";
import { fill } from "../words.js";
import { needsPerson } from "./items.js";

/** What of a room needs a look, in words: red for what needs a person, amber for what may come to. */
export class Trouble {
  #said = "";

  constructor({ words, model, items, server }) {
    Object.assign(this, { words, model, items, server });
    this.replicas = [];
  }

  draw() {
    const found = this.#found();
    const said = JSON.stringify(found);
    if (said === this.#said) return;
    this.#said = said;
    document.body.dataset.trouble = found.some(({ kind }) => kind === "bad") ? "bad" : found.length > 0 ? "warn" : "";
    const calm = make("li", { class: "calm" }, this.words.calm);
    byID("trouble").replaceChildren(...(found.length > 0 ? found.map(chip) : [calm]));
  }

  #found() {
    const { words: t, model } = this;
    const now = this.server.now();
    const urgent = this.items.all.filter((item) => needsPerson(item, now));
    const incidents = urgent.filter(({ kind }) => kind === "incident").length;
    const unowned = urgent.length - incidents;
    return [
      !model.holder && !model.paused && model.line.length > 0 && { kind: "bad", words: t.troubles.stuck },
      unowned > 0 && { kind: "bad", words: fill(t.unowned, { n: unowned }) },
      incidents > 0 && { kind: "bad", words: fill(t.incidents, { n: incidents }) },
      model.paused && { kind: "warn", words: t.troubles.paused },
      ...this.#servers(),
    ].filter(Boolean);
  }

  #servers() {
    const { words: t, replicas } = this;
    const stale = replicas.filter(({ store }) => store === "stale").map(({ name, id }) => name || id);
    const behind = replicas.some(({ ledger }) => ledger === "behind");
    return [
      stale.length > 0 && { kind: "bad", words: `${stale.join(", ")} ${t.store_stale}` },
      behind && { kind: "warn", words: t.ledger_behind },
    ];
  }
}

function chip({ kind, words }) {
  return make("li", { class: `chip ${kind}` }, words);
}
