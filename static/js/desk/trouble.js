import { byID, make } from "../dom.js";
import { fill } from "../words.js";
import { needsPerson } from "./items.js";

/** A room's problems in words: red if an agent has to act, amber if that may become necessary. */
export class Trouble {
  #drawn = "";

  /** attention receives all troubles found. */
  constructor({ words, model, items, server, attention }) {
    Object.assign(this, { words, model, items, server, attention });
    this.replicas = [];
  }

  draw() {
    const found = this.#found();
    if (this.model.version >= 0)
      this.attention.see(found.map(({ id, trouble, words }) => ({ key: id, kind: trouble, words })));
    const drawn = JSON.stringify(found);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    document.body.dataset.trouble = found.some(({ kind }) => kind === "bad")
      ? "bad"
      : found.length > 0
        ? "warn"
        : "";
    const calm = make("li", { class: "calm" }, this.words.calm);
    byID("trouble").replaceChildren(...(found.length > 0 ? found.map(chip) : [calm]));
  }

  #found() {
    const { words: t, model } = this;
    const now = this.server.now();
    const urgent = this.items.all.filter((item) => needsPerson(item, now));
    const incidents = urgent.filter(({ kind }) => kind === "incident");
    const unowned = urgent.filter(({ kind }) => kind !== "incident");
    return [
      !model.holder &&
        !model.paused &&
        model.line.length > 0 && { kind: "bad", trouble: "stuck", id: "stuck", words: t.troubles.stuck },
      unowned.length > 0 && {
        kind: "bad",
        trouble: "nobodys",
        id: newest(unowned),
        words: fill(t.unowned, { n: unowned.length }),
      },
      incidents.length > 0 && {
        kind: "bad",
        trouble: "lost",
        id: newest(incidents),
        words: fill(t.incidents, { n: incidents.length }),
      },
      model.paused && { kind: "warn", trouble: "paused", id: "paused", words: t.troubles.paused },
      ...this.#servers(),
    ].filter(Boolean);
  }

  #servers() {
    const { words: t, replicas } = this;
    const stale = replicas.filter(({ store }) => store === "stale").map(({ name, id }) => name || id);
    const behind = replicas.some(({ ledger }) => ledger === "behind");
    const differing = [...new Set(replicas.flatMap(({ differing: names }) => names?.split(", ") ?? []))];
    return [
      differing.length > 0 && {
        kind: "warn",
        trouble: "behind",
        id: `differ ${differing}`,
        words: fill(t.settings_differ, { names: differing.join(", ") }),
      },
      stale.length > 0 && {
        kind: "bad",
        trouble: "lost",
        id: "stale",
        words: `${stale.join(", ")} ${t.store_stale}`,
      },
      behind && { kind: "warn", trouble: "behind", id: "behind", words: t.ledger_behind },
    ];
  }
}

/** The key of the last message: a further message is a further trouble. */
function newest(items) {
  return items.reduce((last, item) => (item.at > last.at ? item : last)).key;
}

function chip({ kind, words }) {
  return make("li", { class: `chip ${kind}` }, words);
}
