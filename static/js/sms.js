import { fill, timeOfDay } from "./words.js";

/** <wr-sms>: the messages of my turn, the newest large. */
export class Messages extends HTMLElement {
  #words = null;
  #list = [];

  start(words, messages) {
    this.#words = words;
    this.#find("copy").addEventListener("click", () => this.#copy());
    this.#list = messages.map(whole);
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
    if (this.#list.some((m) => m.text === added.text && m.at.getTime() === added.at.getTime())) return false;
    this.#list.push(added);
    this.#draw();
    return true;
  }

  forget() {
    this.#list = [];
    this.#draw();
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
    this.#find("earlier").replaceChildren(...this.#list.slice(0, -1).reverse().map(row));
  }

  async #copy() {
    const note = this.#find("note");
    try {
      await navigator.clipboard.writeText(this.code);
      note.textContent = this.#words.copied;
    } catch {
      getSelection().selectAllChildren(this.#find("code"));
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

function row(message) {
  const item = document.createElement("li");
  item.textContent = message.text;
  return item;
}

customElements.define("wr-sms", Messages);
