/** A keyed map that follows the server's {reset, set, drop}. */
export class Keyed {
  #things = new Map();

  /** key: the name of the key's field. */
  constructor(key = "key") {
    this.key = key;
  }

  apply({ reset, set = [], drop = [] }) {
    if (reset) this.#things.clear();
    for (const thing of set) this.#things.set(thing[this.key], thing);
    for (const key of drop) this.#things.delete(key);
  }

  get(key) {
    return this.#things.get(key);
  }

  get all() {
    return [...this.#things.values()];
  }

  get size() {
    return this.#things.size;
  }
}
