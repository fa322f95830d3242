/** A field that narrows a list while the agent types. */
export class Search {
  text = "";

  /** onChange: the search text has changed; onEnter: go to the list. */
  constructor(field, onChange, onEnter) {
    this.field = field;
    field.addEventListener("input", () => this.#read(onChange));
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" || event.key === "ArrowDown") onEnter();
      else if (event.key === "Escape") this.#clear(onChange, onEnter);
      else return;
      event.preventDefault();
    });
  }

  get empty() {
    return this.text === "";
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  matches(word) {
    return plain(word).includes(this.text);
  }

  #read(onChange) {
    this.text = this.field.value.trim() && plain(this.field.value);
    onChange();
  }

  #clear(onChange, onEnter) {
    if (this.field.value === "") return onEnter();
    this.field.value = "";
    this.#read(onChange);
  }
}

function plain(text) {
  const folded = text.normalize("NFKC").toLowerCase(); // whatever its width
  return folded.replace(/[ \-_./:]/g, "") || folded;
}
