import { byID, make, put } from "../dom.js";
import { fill, timeOfDay } from "../words.js";
import { seller as timeline } from "./address.js";

const FRESH = 600000; // milliseconds in which a message or an incident needs a person's look
const MOST = 200; // items shown
const SHOWN = 10000; // milliseconds that a result stays at its message

/** Returns whether a person has to look: an undelivered code or an incident of the last ten minutes. */
export function needsPerson(item, now) {
  if (now - item.at > FRESH) return false;
  return item.kind === "incident" || (item.result === "unmatched" && item.code);
}

/** Unassigned and late messages, and incidents. Those that need a person come first. */
export class ItemsPanel {
  #shown = new Map(); // key → {item, urgent, element}
  // key → {item, words}: the result of an action, also when the item is gone from the list
  #results = new Map();

  /** assign(item, lease, back); none for an agent who may only watch. */
  constructor({ words, items, server, room, assign }) {
    Object.assign(this, { words, items, server, room, assign });
    this.list = byID("items");
  }

  draw() {
    const now = this.server.now();
    const all = this.#sorted(now);
    byID("items-empty").hidden = all.length > 0;
    this.list.hidden = all.length === 0;
    put(byID("items-count"), all.length > 0 ? String(all.length) : "");
    const top = all.slice(0, MOST);
    const keys = new Set(top.map(({ key }) => key));
    for (const key of this.#shown.keys()) if (!keys.has(key)) this.#shown.delete(key);
    const shown = top.map((item) => this.#element(item, now));
    if (
      shown.length !== this.list.children.length ||
      shown.some((element, i) => element !== this.list.children[i])
    ) {
      this.list.replaceChildren(...shown);
    }
  }

  showResult(item, words) {
    this.#results.set(item.key, { item, words });
    setTimeout(() => {
      this.#results.delete(item.key);
      this.#shown.delete(item.key);
      this.draw();
    }, SHOWN);
    this.#shown.delete(item.key);
    this.draw();
  }

  #sorted(now) {
    const all = this.items.all;
    const known = new Set(all.map(({ key }) => key));
    for (const { item } of this.#results.values())
      if (!known.has(item.key)) all.push({ ...item, assignable: false });
    const urgent = (item) => (needsPerson(item, now) ? 1 : 0);
    return all.sort((a, b) => urgent(b) - urgent(a) || b.at - a.at);
  }

  /** A row is rebuilt only when it changed, so that focus stays. */
  #element(item, now) {
    const urgent = needsPerson(item, now);
    const known = this.#shown.get(item.key);
    if (known && known.urgent === urgent && same(known.item, item)) return known.element;
    const element = item.kind === "incident" ? this.#incident(item, urgent) : this.#message(item, urgent);
    this.#shown.set(item.key, { item, urgent, element });
    return element;
  }

  #message(item, urgent) {
    const { words: t } = this;
    const why = t.whys[item.reason] ?? (item.result === "late" ? t.whys.late : "");
    const content = [
      make("p", { class: "item-text mono", translate: "no" }, item.text),
      make("p", { class: "item-facts soft" }, this.#facts(item)),
      why && make("p", { class: "item-why" }, why),
      item.offered && make("p", { class: "item-why" }, make("span", { class: "chip" }, t.offered)),
      this.#could(item),
    ].filter(Boolean);
    const folded = item.code
      ? content
      : [make("details", {}, make("summary", { class: "soft" }, t.no_code), ...content)];
    return this.#item(item, urgent, t.results[item.result] ?? t.results.unmatched, folded);
  }

  #incident(item, urgent) {
    const { words: t } = this;
    const facts = [item.ticket > 0 && fill(t.ticket, { ticket: item.ticket }), item.detail]
      .filter(Boolean)
      .join(" · ");
    return this.#item(item, urgent, t.incident[item.incident] ?? t.incident[""], [
      facts && make("p", { class: "item-facts soft" }, facts),
    ]);
  }

  #item(item, urgent, title, content) {
    const at = new Date(item.at);
    const result = this.#results.get(item.key);
    return make("li", { class: "item", "data-urgent": String(urgent), "data-key": item.key },
      make("p", { class: "item-head" },
        urgent ? make("span", { class: "chip bad" }, title) : make("strong", {}, title),
        item.code && make("span", { class: "chip" }, this.words.has_code),
        make("time", { class: "soft num", datetime: at.toISOString() }, timeOfDay(at)),
      ),
      ...content.filter(Boolean),
      result && make("p", { class: "item-result", translate: "no", role: "status" }, result.words),
    );
  }

  #facts({ from, sent_at: sent }) {
    const { words: t } = this;
    const parts = from ? [fill(t.from, { from })] : [];
    if (sent) parts.push(fill(t.sent_at, { time: timeOfDay(new Date(sent)) }));
    return parts.join(" · ");
  }

  #could(item) {
    const { words: t } = this;
    const leases = item.could ?? [];
    if (item.result !== "unmatched") return null;
    if (leases.length === 0) return make("p", { class: "soft item-could" }, t.nobody_is);
    return make("div", { class: "item-could" },
      make("p", { class: "soft" }, t.could),
      make("ul", {}, ...leases.map((lease) => this.#lease(item, lease))),
    );
  }

  #lease(item, lease) {
    const { words: t } = this;
    const holder = make("span", { class: "lease-who" },
      make("a", { href: timeline(lease.seller_id, this.room), translate: "no" }, lease.seller_id),
      make("span", { class: "soft" }, ` ${fill(t.ticket, { ticket: lease.ticket })}`),
      lease.live && make("span", { class: "chip" }, t.live),
    );
    const times = make("span", { class: "soft lease-times" }, this.#times(lease));
    return make(
      "li",
      {},
      holder,
      times,
      this.assign && item.assignable && !this.#results.has(item.key) && this.#give(item, lease),
    );
  }

  #give(item, lease) {
    const { words: t } = this;
    const button = make(
      "button",
      {
        type: "button",
        class: "button",
        "aria-label": `${t.assign_to}: ${lease.seller_id}`,
        translate: "no",
      },
      t.assign_to,
    );
    button.addEventListener("click", () => this.assign(item, lease, () => this.#back(item.key)));
    return button;
  }

  #back(key) {
    const item = this.list.querySelector(`[data-key="${CSS.escape(key)}"] button`) ?? this.list;
    item.focus({ preventScroll: true });
  }

  #times({ granted_at: from, ended_at: to, asked_at: asked }) {
    const { words: t } = this;
    const time = (at) => timeOfDay(new Date(at));
    const held = to
      ? fill(t.held_from, { from: time(from), to: time(to) })
      : fill(t.held_now, { from: time(from) });
    return asked ? `${held} · ${fill(t.asked_at, { time: time(asked) })}` : held;
  }
}

function same(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
