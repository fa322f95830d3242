import { byID, put } from "../dom.js";
import { fill, isolated, timeOfDay } from "../words.js";
import { seller } from "./address.js";

/** The card of the lock's holder. */
export class HolderCard {
  #fence = null;

  constructor({ words, model, server, room, lease }) {
    Object.assign(this, { words, model, server, room, lease });
    this.countdown = byID("holder-countdown");
    this.countdown.dataset.over = words.over;
    this.countdown.addEventListener("wr-tick", ({ detail: left }) => (byID("holder-progress").value = left));
  }

  draw() {
    const { holder } = this.model;
    const card = byID("holder");
    card.dataset.held = String(holder != null);
    byID("holder-held").hidden = !holder;
    byID("holder-free").hidden = Boolean(holder);
    const focused = document.activeElement?.id;
    for (const id of ["extend", "release"]) if (byID(id)) byID(id).disabled = !holder;
    if (focused === "extend" || focused === "release") this.focus(focused);
    if (holder) this.#held(holder);
    else this.#free();
  }

  /** Focuses a button of the card or, where no action is left, the card's heading. */
  focus(id) {
    const button = byID(id);
    (button.disabled ? byID("holder-title") : button).focus();
  }

  #held(holder) {
    const { words: t } = this;
    const link = byID("holder-seller");
    // After a loss of data the lock has no known holder until its lease would have ended.
    put(link, holder.seller_id || t.nobodys);
    if (holder.seller_id) link.href = seller(holder.seller_id, this.room);
    else link.removeAttribute("href");
    put(byID("holder-ticket"), fill(t.ticket, { ticket: holder.ticket }));
    put(byID("holder-granted"), timeOfDay(new Date(holder.granted_at)));
    put(byID("holder-fence"), String(holder.fence));
    put(byID("holder-asks"), this.#asks(holder));
    const { next } = this.model;
    put(byID("holder-next"), next ? isolated(next.seller) : this.words.nobody_next);
    this.#count(holder);
  }

  #asks({ asked, open, ask_after: after }) {
    const { words: t } = this;
    const words = asked > 0 ? fill(t.asks, { n: asked, open }) : t.asks_none;
    return after > this.server.now()
      ? `${words} · ${fill(t.ask_after, { time: timeOfDay(new Date(after)) })}`
      : words;
  }

  #count({ fence, granted_at: from, expires_at: until }) {
    const key = `${fence} ${until}`;
    if (this.#fence === key) return;
    this.#fence = key;
    byID("holder-progress").max = Math.max(until - from, this.lease);
    this.countdown.run(this.server, until, until - from);
  }

  #free() {
    const { words: t, model } = this;
    this.#fence = null;
    this.countdown.run(this.server, null, 1);
    let why = t.free_away;
    if (model.line.length === 0) why = t.free_empty;
    if (model.paused) why = t.free_paused;
    put(byID("holder-free"), `${t.free}. ${why}`);
  }
}
