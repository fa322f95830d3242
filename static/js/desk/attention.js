import { Chime } from "../chime.js";
import { byID } from "../dom.js";
import { openModal } from "../modal.js";
import { fill } from "../words.js";

const KEPT = "desk-attention";

/**
 * Alerts an agent who looks elsewhere when a trouble appears. The title and the icon of the tab show it and,
 * where the agent wants it, a sound and a notification. The agent chooses for what; the browser remembers it.
 */
export class Attention {
  #title = document.title;
  #icon = document.querySelector('link[rel="icon"]');
  #calm = this.#icon.getAttribute("href");
  #known = null; // the troubles that were there, by key; null: none was seen yet
  #now = [];
  #chime = new Chime();

  constructor({ words }) {
    this.words = words;
    this.dialog = byID("attention");
    this.#recall();
    this.dialog.addEventListener("change", () => this.#choose());
    byID("attention-open").addEventListener("click", () => openModal(this.dialog));
    byID("attention-try").addEventListener("click", () => this.#try());
    for (const press of ["pointerdown", "keydown"])
      document.addEventListener(press, () => this.#wants("sound") && this.#chime.arm());
    byID("attention-notify").disabled = !("Notification" in window);
  }

  /** Takes the present troubles: each with a stable key, its kind, and its words. */
  see(troubles) {
    this.#now = troubles;
    const chosen = troubles.filter(({ kind }) => this.#wants(kind));
    const fresh = chosen.filter(({ key }) => this.#known && !this.#known.has(key));
    this.#known = new Set(troubles.map(({ key }) => key));
    this.#show(chosen.length);
    if (fresh.length > 0) this.#call(fresh);
  }

  #show(n) {
    const title = n > 0 ? `(${n}) ${this.#title}` : this.#title;
    if (document.title !== title) document.title = title;
    const icon = n > 0 ? this.#calm.replace("waiting.svg", "alarm.svg") : this.#calm;
    if (this.#icon.getAttribute("href") !== icon) this.#icon.setAttribute("href", icon);
  }

  #call(fresh) {
    if (this.#wants("sound")) this.#chime.play();
    if (!this.#wants("notify") || !document.hidden || Notification.permission !== "granted") return;
    const lines = fresh.slice(0, 3).map(({ words }) => words);
    if (fresh.length > 3) lines.push(fill(this.words.attention_more, { n: fresh.length - 3 }));
    try {
      const shown = new Notification(this.words.attention_title, {
        body: lines.join("\n"),
        tag: KEPT,
        icon: this.#icon.href,
      });
      shown.addEventListener("click", () => {
        window.focus();
        shown.close();
      });
    } catch {
      // Chrome on Android has no notifications without a service worker.
    }
  }

  get #boxes() {
    return [...this.dialog.querySelectorAll("input[name]")];
  }

  #wants(name) {
    return this.#boxes.some((box) => box.name === name && box.checked && !box.disabled);
  }

  async #choose() {
    if (this.#wants("sound")) this.#chime.arm();
    const notify = byID("attention-notify");
    if (this.#wants("notify") && Notification.permission !== "granted")
      notify.checked = (await Notification.requestPermission()) === "granted";
    remember(Object.fromEntries(this.#boxes.map(({ name, checked }) => [name, checked])));
    this.see(this.#now);
  }

  async #try() {
    await this.#chime.arm();
    this.#chime.play();
  }

  #recall() {
    const kept = recalled();
    for (const box of this.#boxes) if (box.name in kept) box.checked = kept[box.name] === true;
  }
}

function recalled() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function remember(choice) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(choice));
  } catch {
    // Private windows may refuse; the choice then lasts for this page only.
  }
}
