import { copy } from "./copy.js";
import { make } from "./dom.js";
import { fill, groups, timeOfDay } from "./words.js";

const KEPT = 600000; // milliseconds that a message is shown

/**
 * <wr-sms>: the messages of the seller's turn, the code large; late ones of an earlier turn go into #past.
 */
export class Messages extends HTMLElement {
  #words = null;
  #server = null;
  #onForget = null;
  #list = [];
  #past = 0; // unix ms: earlier messages belong to an earlier turn
  #status = "";
  #refused = new Set(); // ids that the seller rejected
  #timer = 0;

  start({ words, server, messages, past, onForget }) {
    this.#past = past;
    this.#words = words;
    this.#server = server;
    this.#onForget = onForget;
    const code = this.#find("code");
    this.#find("copy").addEventListener("click", () => this.#copy(this.#find("copy"), this.code, code));
    code.addEventListener("click", () => this.code && this.#find("copy").click());
    for (const message of messages) this.add(message);
    // A sleeping page may have missed the moment.
    document.addEventListener("visibilitychange", () => this.#sweep());
    document.addEventListener("resume", () => this.#sweep());
  }

  /** The number of messages shown for this turn. */
  get count() {
    return this.#current.length;
  }

  get code() {
    return this.main?.code ?? "";
  }

  /** The message shown large: the newest code, the turn's own before a late one, else the newest. */
  get main() {
    const best = (most, m) => (importance(m) >= importance(most) ? m : most);
    return this.#current.reduce(best, undefined);
  }

  has(id) {
    return this.#list.some((m) => m.id === id);
  }

  /** Takes a message, and returns it if it is new and shown: a reconnect may bring it again. */
  add(message) {
    const added = whole(message, this.#words.unreadable);
    if (!added.late && added.at.getTime() <= this.#past) return null;
    if (this.#over(added) || this.#refused.has(added.id) || this.has(added.id)) return null;
    this.#list.push(added);
    this.#list.sort((a, b) => a.at - b.at);
    this.#sweep();
    return this.has(added.id) ? added : null; // its time may have ended this very moment
  }

  /** Removes a message that the seller rejected. */
  reject(id) {
    this.#refused.add(id);
    this.#list = this.#list.filter((m) => m.id !== id);
    this.#draw();
  }

  /** Another place begins. The server may send old messages again: they stay hidden, but for late ones. */
  forget() {
    for (const { at } of this.#list) this.#past = Math.max(this.#past, at.getTime());
    this.#list = this.#list.filter((m) => m.late);
    this.#draw();
    return this.#past;
  }

  /** Shows the messages of a state; an ended turn without messages shows none. */
  show(status) {
    this.#status = status;
    this.#draw();
    this.hidden = !(status === "locked" || (status === "ended" && this.count > 0));
    document.getElementById("past").hidden = this.#earlier.length === 0;
  }

  /** Shows a text beside the code; unseen: only for screen readers. */
  note(text, unseen = false) {
    this.#find("note").textContent = text;
    this.#find("note").classList.toggle("unseen", unseen);
  }

  get #current() {
    if (this.#status === "ended") return this.#list;
    return this.#status === "locked" ? this.#list.filter((m) => !m.late) : [];
  }

  get #earlier() {
    return ["waiting", "locked"].includes(this.#status) ? this.#list.filter((m) => m.late) : [];
  }

  #over(message) {
    return message.at.getTime() + KEPT <= this.#server.now();
  }

  /** Removes messages shown for long enough, and runs again when the next one is due. */
  #sweep() {
    clearTimeout(this.#timer);
    const left = this.#list.filter((m) => !this.#over(m));
    const forgot = left.length < this.#list.length;
    this.#list = left;
    this.#draw();
    if (left.length > 0) {
      const first = left[0].at.getTime() + KEPT - this.#server.now();
      this.#timer = setTimeout(() => this.#sweep(), Math.max(first, 1));
    }
    if (forgot) this.#onForget();
  }

  #draw() {
    const { main } = this;
    const t = this.#words;
    const code = this.#find("code");
    if (main?.id !== this.dataset.main) {
      this.note("");
      this.#find("whole").open = !main?.code;
    }
    this.dataset.main = main?.id ?? "";
    this.#find("whole").hidden = !main;
    this.dataset.count = String(this.count);
    document.body.dataset.messages = String(this.count > 0);
    this.#find("title").textContent = title(t, main);
    const parts = main?.code ? groups(main.code) : [withoutCode(t, main)];
    code.replaceChildren(...parts.map((part) => make("span", { translate: main?.code ? "no" : null }, part)));
    code.dataset.empty = String(!main?.code);
    code.dataset.long = String(main?.code.length > 6);
    this.#find("copy").hidden = !main?.code;
    if (this.#find("market")) this.#find("market").hidden = !main?.code;
    document.body.dataset.code = String(Boolean(main?.code));
    this.#find("reject-form").hidden = !main?.code;
    this.#find("text").textContent = main?.text ?? "";
    const at = main && timeOfDay(this.#server.here(main.at.getTime()));
    this.#find("time").textContent = main ? fill(t.arrived, { time: at }) : "";
    const others = this.#current.filter((m) => m !== main).reverse();
    this.#find("earlier-part").hidden = others.length === 0;
    this.#find("earlier").replaceChildren(...others.map((m) => this.#row(m)));
    document.getElementById("past-list").replaceChildren(...this.#earlier.map((m) => line(m.text)));
  }

  /** A smaller message; its code can still be the one that the market asks for. */
  #row(message) {
    const item = line(message.text);
    if (message.late) item.firstChild.prepend(make("strong", { translate: "yes" }, this.#words.late_title));
    if (!message.code) return item;
    const words = this.#find("copy").dataset.copy;
    const button = make(
      "button",
      { type: "button", class: "button small", "data-copy": words, "aria-label": `${message.code} ${words}`, translate: "no" },
      words,
    );
    button.addEventListener("click", () => this.#copy(button, message.code, item.firstChild));
    item.append(button);
    return item;
  }

  async #copy(button, code, place) {
    const done = await copy(button, code, place, this.#words);
    this.note(done ? this.#words.copied : this.#words.copy_by_own, done);
  }

  #find(part) {
    return document.getElementById(`sms-${part}`);
  }
}

function whole({ message_id, text, code, received_at, late, fence, unreadable }, words) {
  const id = message_id ?? `${received_at} ${text}`;
  const shown = unreadable ? words : (text ?? "");
  return { id, text: shown, code: code ?? "", at: new Date(received_at), late: late === true, fence, unreadable };
}

/** Returns the words in the place of the code, for a message without one. */
function withoutCode(t, main) {
  if (main?.unreadable) return t.unreadable_code;
  return main ? t.no_code : t.await_sms;
}

function importance(message) {
  if (!message) return 0;
  if (!message.code) return 1;
  return message.late ? 2 : 3;
}

function title(t, main) {
  if (main?.late) return t.late_title;
  return main && !main.code ? t.text_title : t.code_title;
}

/** Makes a row of a text, which no browser may translate. */
function line(text) {
  return make("li", {}, make("span", { translate: "no" }, text));
}

customElements.define("wr-sms", Messages);
