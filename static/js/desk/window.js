const SPARE = 8; // rows above and below the visible ones

/**
 * A list of which only the visible rows exist. All rows are equally high. A row stays with its item while
 * both are in view, so that focus and pointer stay with it; the focused row exists as long as its item does.
 */
export class Windowed {
  #things = [];
  #rows = new Map(); // key → row
  #free = [];
  #height = 0;
  #asked = false;

  /**
   * scroller: scrolls; it has one element with the height of all rows, and in it one that holds the rows.
   * make() → a row; draw(row, thing, index) fills it; key(thing).
   */
  constructor({ scroller, make, draw, key }) {
    Object.assign(this, { scroller, make, draw, key });
    this.space = scroller.firstElementChild;
    this.holder = this.space.firstElementChild;
    scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
    new ResizeObserver(() => {
      this.#height = 0;
      this.redraw();
    }).observe(scroller);
  }

  show(things) {
    this.#things = things;
    this.redraw();
  }

  /** Draws once before the next picture, however often it is called. */
  redraw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#draw();
    });
  }

  /** Brings a row into view; focus: gives it focus. */
  reveal(index, focus) {
    const top = index * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight)
      this.scroller.scrollTop = top + this.height - clientHeight;
    this.#draw();
    if (focus) this.row(this.key(this.#things[index]))?.focus({ preventScroll: true });
  }

  row(key) {
    return this.#rows.get(key);
  }

  /** The number of rows that fit into view. */
  get page() {
    return Math.max(Math.floor(this.scroller.clientHeight / this.height) - 1, 1);
  }

  get height() {
    return this.#height || (this.#height = this.#measure());
  }

  #measure() {
    const row = this.#rows.values().next().value ?? this.#sample();
    return row.getBoundingClientRect().height || 36;
  }

  #sample() {
    const row = this.#free[0] ?? this.make();
    this.#free[0] = row;
    this.holder.append(row);
    queueMicrotask(() => this.#free.includes(row) && row.remove());
    return row;
  }

  #draw() {
    const { height } = this;
    const { scrollTop, clientHeight } = this.scroller;
    const all = this.#things.length;
    const first = Math.max(Math.min(Math.floor(scrollTop / height), all) - SPARE, 0);
    const last = Math.min(Math.ceil((scrollTop + clientHeight) / height) + SPARE, all);
    const wanted = this.#things.slice(first, last);
    this.#release(new Set(wanted.map(this.key)));
    style(this.space, "height", `${all * height}px`);
    style(this.holder, "transform", `translateY(${first * height}px)`);
    this.#place(wanted.map((thing, i) => this.#fill(thing, first + i)));
  }

  #fill(thing, index) {
    const key = this.key(thing);
    let row = this.#rows.get(key);
    if (!row) {
      row = this.#free.pop() ?? this.make();
      this.#rows.set(key, row);
    }
    row.classList.remove("aside");
    this.draw(row, thing, index);
    return row;
  }

  /** Frees the rows out of view; the focused one is kept while its item exists. */
  #release(wanted) {
    for (const [key, row] of this.#rows) {
      if (wanted.has(key)) continue;
      if (row.contains(document.activeElement) && this.#things.some((thing) => this.key(thing) === key)) {
        row.classList.add("aside");
        continue;
      }
      this.#rows.delete(key);
      this.#free.push(row);
      row.remove();
    }
  }

  /** Puts rows into order without moving the focused one, which would lose focus. */
  #place(rows) {
    let at = this.holder.firstElementChild;
    for (const row of rows) {
      if (row !== at && row.contains(document.activeElement)) {
        while (at && at !== row) {
          const next = at.nextElementSibling;
          this.holder.append(at);
          at = next;
        }
      }
      if (row === at) at = at.nextElementSibling;
      else this.holder.insertBefore(row, at);
    }
  }
}

function style(element, name, value) {
  if (element.style[name] !== value) element.style[name] = value;
}
