import { byID, put } from "../dom.js";
import { fill } from "../words.js";

const LONGEST = 300; // characters of a text

/** The dialog's fields of an announcement: a text in each language, and its level. */
export class Wording {
  /** incidents: the texts of the usual incidents, each by language. */
  constructor({ words, incidents }) {
    Object.assign(this, { words, incidents });
    this.field = byID("act-wording");
    this.texts = [...this.field.querySelectorAll("textarea")];
    this.field.addEventListener("input", (event) => {
      if (event.target.name === "incident") this.#fill(event.target.value);
      this.#count();
    });
  }

  /** asked: {incident}, the one whose texts are filled in, if any; without asked, the fields are hidden. */
  show(asked) {
    this.field.hidden = !asked;
    for (const text of this.texts) text.value = "";
    for (const radio of this.field.querySelectorAll("input"))
      radio.checked = radio.value === (asked?.incident ?? "info");
    if (asked?.incident) this.#fill(asked.incident);
    this.#count();
  }

  /** Returns {texts, level}; texts has those that are not empty, in the order of the languages. */
  get values() {
    const texts = this.texts.map((text) => [text.lang, text.value.trim()]).filter(([, text]) => text !== "");
    return {
      texts: Object.fromEntries(texts),
      level: this.field.querySelector('[name="level"]:checked')?.value,
    };
  }

  /** Returns why the texts can not be sent; "" if they can, or are not asked for. */
  get wrong() {
    if (this.field.hidden) return "";
    const long = this.texts.find((text) => length(text) > LONGEST);
    if (long)
      return fill(this.words.long_announcement, {
        lang: long.labels[0].textContent,
        n: length(long) - LONGEST,
      });
    return this.texts.some((text) => length(text) > 0) ? "" : this.words.no_announcement;
  }

  /** An incident is a warning, until the agent picks another level. */
  #fill(incident) {
    for (const text of this.texts) text.value = this.incidents[incident]?.[text.lang] ?? "";
    this.field.querySelector('[value="warning"]').checked = true;
  }

  #count() {
    for (const text of this.texts) {
      const count = byID(text.getAttribute("aria-describedby"));
      put(count, `${length(text)}/${LONGEST}`);
      count.classList.toggle("over", length(text) > LONGEST);
    }
  }
}

/** Returns how many characters a text has, as the server counts them. */
function length(text) {
  return [...text.value.trim()].length;
}
