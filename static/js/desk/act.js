import { byID, make, put } from "../dom.js";
import { Refused } from "../http.js";
import { closeModal, isModal, openModal } from "../modal.js";
import { fill } from "../words.js";

const LONGEST = 200; // characters of a reason

/**
 * The question before every action: the seller, the effect and a reason. It is open for one action at a time,
 * and checks with every change of the room whether the action is still possible.
 */
export class ActDialog {
  #action = null;
  #send = null;
  #over = false; // nothing is left to do here
  #busy = false;

  /** stale(): whether the page's data may be old; wording: the fields of an announcement. */
  constructor({ words, api, stale, wording }) {
    Object.assign(this, { words, api, stale, wording });
    this.dialog = byID("act");
    this.text = byID("act-text");
    this.place = byID("act-position");
    byID("act-no").addEventListener("click", () => closeModal(this.dialog));
    byID("act-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    byID("act-form").addEventListener("input", () => this.check());
    byID("act-form").addEventListener("change", () => this.#showError(""));
    this.dialog.addEventListener("close", () => this.#closed());
  }

  /**
   * action: {verb, path, about, who, effect(values), outdated(), choices, later, position, wording,
   * body(values), done(answer, values), back()}. path is the API's name of the verb, where it has another;
   * values are {choice, position, texts, level}; later is a promise of choices; outdated returns why the
   * action is not possible any more; back returns the focus.
   */
  ask(action) {
    const { title, yes } = this.words.act[action.verb];
    this.#action = action;
    this.#send = this.#request(action);
    this.#over = false;
    put(byID("act-title"), title);
    put(byID("act-about"), this.words.about[action.about ?? "seller"]);
    put(byID("act-who"), action.who);
    put(byID("act-yes"), yes);
    byID("act-yes").classList.toggle("danger", Boolean(action.danger));
    this.text.value = "";
    byID("act-picks").replaceChildren(
      ...this.words.reasons[action.verb].map((text) => pick("reason", text, text)),
    );
    this.#choices(action.choices);
    this.#position(action.position);
    this.wording.show(action.wording);
    this.#showError("");
    openModal(this.dialog);
    this.check();
    action.later?.then((choices) => this.#offer(action, choices));
  }

  /** Runs with every change: shows the effect, and whether the action is still possible. */
  check() {
    if (!this.#action || this.#busy || !isModal(this.dialog)) return;
    const outdated = this.#over ? "" : this.#action.outdated();
    if (outdated) this.#end(outdated);
    byID("act-yes").disabled = this.#over;
    byID("act-old").hidden = !this.stale();
    if (!this.#over) put(byID("act-effect"), this.#action.effect(this.#values));
  }

  get #values() {
    const chosen = this.dialog.querySelector('[name="choice"]:checked');
    const position = Math.trunc(Number(this.place.value)) || 0;
    return { choice: chosen?.value, position, ...this.wording.values };
  }

  #request({ verb, path = verb }) {
    return this.api.action(path);
  }

  get #reason() {
    const picked = this.dialog.querySelector('[name="reason"]:checked')?.value ?? "";
    return [picked, this.text.value.trim()].filter(Boolean).join(" · ");
  }

  #choices(choices) {
    const field = byID("act-choices");
    field.hidden = !choices;
    if (!choices) return field.querySelector(".picks").replaceChildren();
    put(field.querySelector("legend"), field.dataset[choices.legend]);
    field.querySelector(".picks").replaceChildren(
      ...choices.of.map(({ value, words, picked }) => pick("choice", value, words, picked)),
    );
  }

  /** Offers choices that were not known when the question was asked. */
  #offer(action, choices) {
    if (this.#action !== action || this.#busy) return;
    this.#choices(choices);
    this.check();
  }

  #position(position) {
    byID("act-place").hidden = !position;
    this.place.value = position?.value ?? "";
    this.place.max = position?.max ?? "";
  }

  async #submit() {
    if (this.#busy || this.#over) return;
    const reason = this.#reason;
    const wrong = this.#wrong(reason);
    if (wrong) return this.#showError(wrong);
    this.#working(true);
    const action = this.#action;
    const values = this.#values;
    try {
      const answer = await this.#send({ ...action.body(values), reason });
      closeModal(this.dialog);
      action.done(answer, values);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refused(error);
    } finally {
      this.#working(false);
    }
  }

  #wrong(reason) {
    const over = [...reason].length - LONGEST;
    if (this.wording.wrong) return this.wording.wrong;
    if (reason === "") return this.words.no_reason;
    if (over > 0) return fill(this.words.long_text, { n: over });
    if (this.#action.position && this.#values.position < 1) return this.words.refusals.invalid_position;
    return "";
  }

  /**
   * A refusal that every further press would repeat ends the question; the agent can correct a typing error.
   */
  #refused(error) {
    const text = this.api.plain(error);
    if (error.final && !error.code.startsWith("invalid_")) return this.#end(text);
    if (error.final) this.#send = this.#request(this.#action);
    this.#showError(text);
  }

  #end(text) {
    this.#over = true;
    byID("act-yes").disabled = true;
    put(byID("act-effect"), "–");
    this.#showError(text);
  }

  #working(busy) {
    this.#busy = busy;
    byID("act-yes").toggleAttribute("aria-busy", busy);
    if (busy) byID("act-yes").setAttribute("aria-busy", "true");
    else this.check();
  }

  #showError(text) {
    put(byID("act-error"), text);
  }

  /** A close event comes a moment later: by then another question may be open. */
  #closed() {
    if (isModal(this.dialog)) return;
    const action = this.#action;
    this.#action = null;
    action?.back?.();
  }
}

function pick(name, value, words, picked = false) {
  const label = make(
    "label",
    { class: "pick" },
    make("input", { type: "radio", name, value }),
    make("span", {}, words),
  );
  label.firstElementChild.checked = picked;
  return label;
}
