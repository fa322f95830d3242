import { fill, timeOfDay } from "./words.js";

/** <wr-sms>: the messages of my turn, the newest large. */
export class Messages extends HTMLElement {
  #words = null;
  #list = [];
  #past = 0; // unix ms: what came until then was for an earlier turn

  start(words, messages, past) {
    this.#past = past;
    this.#words = words;
    this.#find("copy").addEventListener("click", () => this.#copy(this.code, this.#find("code")));
    this.#list = messages.map(whole).filter((m) => m.at > past);
    this.#draw();
  }

  get count() {
    return this.#list.length;
  }

  get code() {
    return this.#list.at(-1)?.code ?? "";
  }

  /** Takes a message and says whether it is new: a reconnect may bring it again. */
  add(message) {
    const added = whole(message);
    if (added.at <= this.#past) return false;
    if (this.#list.some((m) => m.text === added.text && m.at.getTime() === added.at.getTime())) return false;
    this.#list.push(added);
    this.#draw();
    return true;
  }

  /** Another place begins. The server may tell the old messages again: they stay gone. */
  forget() {
    for (const { at } of this.#list) this.#past = Math.max(this.#past, at.getTime());
    this.#list = [];
    this.#draw();
    return this.#past;
  }

  #draw() {
    const last = this.#list.at(-1);
    const t = this.#words;
    const code = this.#find("code");
    this.dataset.count = String(this.#list.length);
    code.textContent = last ? last.code || t.no_code : t.await_sms;
    code.dataset.empty = String(!last?.code);
    this.#find("copy").hidden = !last?.code;
    this.#find("text").textContent = last?.text ?? "";
    this.#find("time").textContent = last ? fill(t.arrived, { time: timeOfDay(last.at) }) : "";
    this.#find("note").textContent = "";
    this.#find("earlier-part").hidden = this.#list.length < 2;
    this.#find("earlier").replaceChildren(...this.#list.slice(0, -1).reverse().map((m) => this.#row(m)));
  }

  /** An earlier message; its code can still be the one that the market asks for. */
  #row(message) {
    const item = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = message.text;
    item.append(text);
    if (!message.code) return item;
    const button = this.#find("copy").cloneNode(true);
    button.removeAttribute("id");
    button.hidden = false;
    button.setAttribute("aria-label", `${message.code} ${button.textContent}`);
    button.addEventListener("click", () => this.#copy(message.code, text));
    item.append(button);
    return item;
  }

  async #copy(code, place) {
    const note = this.#find("note");
    try {
      await navigator.clipboard.writeText(code);
      note.textContent = this.#words.copied;
    } catch {
      getSelection().selectAllChildren(place);
      note.textContent = this.#words.copy_by_own;
    }
  }

  #find(part) {
    return document.getElementById(`sms-${part}`);
  }
}

function whole(message) {
  return { text: message.text ?? "", code: message.code ?? "", at: new Date(message.received_at) };
}

customElements.define("wr-sms", Messages);
