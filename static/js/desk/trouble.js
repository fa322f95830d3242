import { byID, make } from "../dom.js";
import { fill } from "../words.js";
import { needsPerson } from "./items.js";

const LATELY = 600000; // milliseconds
const SOME_TURNS = 3; // with fewer ended turns, most of them expired means nothing
const NO_TURNS = ["removed", "dropped", "lost"]; // endings of places, not of turns

/** INCIDENTS has the usual incident that a trouble means for sellers. */
const INCIDENTS = { expired: "late", silent: "late", paused: "checking" };

/** A room's problems in words: red if an agent has to act, amber if that may become necessary. */
export class Trouble {
  #drawn = "";

  /**
   * attention receives all troubles found; announce({incident, back}) offers the texts of an incident, and is
   * null for an agent who may not act.
   */
  constructor({ words, model, items, minutes, sources, server, attention, announce }) {
    Object.assign(this, { words, model, items, minutes, sources, server, attention, announce });
    this.replicas = [];
  }

  draw() {
    const found = this.#found();
    if (this.model.version >= 0)
      this.attention.see(
        found.map(({ id, trouble, alert = trouble, words }) => ({ key: id, kind: alert, words })),
      );
    const drawn = JSON.stringify(found);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    document.body.dataset.trouble = found.some(({ kind }) => kind === "bad")
      ? "bad"
      : found.length > 0
        ? "warn"
        : "";
    const calm = make("li", { class: "calm" }, this.words.calm);
    const focused = document.activeElement.closest("#trouble [data-trouble]")?.dataset.trouble;
    byID("trouble").replaceChildren(...(found.length > 0 ? found.map((one) => this.#chip(one)) : [calm]));
    if (focused) (this.#button(focused) ?? byID("announce")).focus();
  }

  #button(trouble) {
    return document.querySelector(`#trouble [data-trouble="${trouble}"]`);
  }

  #chip({ kind, trouble, words }) {
    const incident = this.announce && INCIDENTS[trouble];
    const chip = make("li", { class: `chip ${kind}` }, make("span", {}, words));
    if (!incident) return chip;
    const name = this.words.act.announce.yes;
    const button = make(
      "button",
      { type: "button", class: "link", "data-trouble": trouble, "aria-label": `${words}: ${name}` },
      name,
    );
    button.addEventListener("click", () => {
      const back = () => (this.#button(trouble) ?? byID("announce")).focus();
      this.announce({ incident, back });
    });
    chip.append(button);
    return chip;
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
      this.#noCodes(now),
      model.paused && { kind: "warn", trouble: "paused", id: "paused", words: t.troubles.paused },
      ...this.#servers(),
    ].filter(Boolean);
  }

  /** Most turns of the last ten minutes expired, or some did and no text has come from anywhere. */
  #noCodes(now) {
    const { troubles } = this.words;
    const { turns, expired } = this.#turns(now);
    const heard = Math.max(0, ...this.sources.all.map(({ heard_at: at }) => at));
    if (heard > 0 && now - heard > LATELY && expired > 0)
      return { kind: "warn", trouble: "silent", alert: "expired", id: "silent", words: troubles.silent };
    const most = turns >= SOME_TURNS && 2 * expired > turns;
    return most && { kind: "warn", trouble: "expired", id: "expired", words: troubles.expired };
  }

  /** Returns how many turns ended in the last ten minutes, and how many of them expired. */
  #turns(now) {
    const sum = { turns: 0, expired: 0 };
    for (const { outcomes } of this.minutes.all.filter((minute) => minute.at > now - LATELY)) {
      for (const [outcome, n] of Object.entries(outcomes ?? {})) {
        if (!NO_TURNS.includes(outcome)) sum.turns += n;
        if (outcome === "expired") sum.expired += n;
      }
    }
    return sum;
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
