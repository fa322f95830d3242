import { byID, make, put } from "../dom.js";
import { clock, fill } from "../words.js";
import { room as roomPage } from "./address.js";
import { kept, kindOf, sorted, totals } from "./glance.js";
import { Grid } from "./grid.js";
import { Search } from "./search.js";
import { elapsed } from "./time.js";

/**
 * The table of all rooms. Its order waits while the agent points at a row or is in one: rows must not jump
 * from under a click.
 */
export class RoomsTable {
  #order = [];
  #by = { column: "trouble", up: false };
  #only = false; // only rooms with trouble
  #pointed = false;
  #cells = new WeakMap();

  constructor({ words, rooms, names, server }) {
    Object.assign(this, { words, rooms, names, server });
    this.rows = byID("rooms-rows");
    this.grid = new Grid({
      root: byID("rooms"),
      rows: this.rows,
      make: () => this.#make(),
      draw: (row, room) => this.#fill(row, room),
      key: ({ room }) => room,
      onOpen: ({ room }) => location.assign(roomPage(room)),
    });
    this.search = new Search(byID("search"), () => this.#look(), () => this.grid.focus());
    this.#watch();
    for (const head of document.querySelectorAll("[data-column]")) {
      head.firstElementChild.addEventListener("click", () => this.#sort(head.dataset.column));
    }
    byID("only-trouble").addEventListener("click", (event) => this.#narrow(event.currentTarget));
  }

  /** anew: sorts again, even while the agent points at a row. */
  draw(anew = false) {
    const all = this.rooms.all;
    const found = all.filter((room) => this.#matches(room));
    const held = !anew && this.#held;
    this.#order = held ? kept(found, this.#order) : sorted(found, this.#by.column, this.#by.up);
    this.grid.show(this.#order);
    byID("rooms-frozen").hidden = !held;
    this.#showCount(all, found);
  }

  tick() {
    this.grid.redraw();
  }

  get #held() {
    return this.#pointed || this.rows.contains(document.activeElement);
  }

  #watch() {
    this.rows.addEventListener("pointerenter", () => (this.#pointed = true));
    this.rows.addEventListener("pointerleave", () => this.#free(() => (this.#pointed = false)));
    this.rows.addEventListener("focusout", () => this.#free(() => {}));
  }

  #free(then) {
    then();
    setTimeout(() => this.draw());
  }

  #sort(column) {
    const up = this.#by.column === column && !this.#by.up;
    this.#by = { column, up };
    for (const head of document.querySelectorAll("[data-column]"))
      head.ariaSort = head.dataset.column === column ? this.#sense : "none";
    this.rows.scrollTop = 0;
    this.draw(true);
  }

  /** Text sorts ascending, by its first letters. */
  get #sense() {
    return this.#by.up !== (this.#by.column === "room") ? "ascending" : "descending";
  }

  #narrow(button) {
    this.#only = !this.#only;
    button.setAttribute("aria-pressed", String(this.#only));
    this.draw(true);
  }

  #look() {
    this.grid.forget();
    this.draw(true);
  }

  #matches(room) {
    if (this.#only && room.trouble.length === 0) return false;
    if (this.search.empty) return true;
    const { name, phone, marketplace } = this.names.of(room.room);
    return [room.room, name, phone, marketplace, room.holder].some(
      (word) => word && this.search.matches(word),
    );
  }

  #showCount(all, found) {
    for (const [name, n] of Object.entries(totals(all))) put(byID(`total-${name}`), n.toLocaleString());
    byID("only-trouble").dataset.kind = all.some(({ trouble }) =>
      trouble.some((name) => kindOf(name) === "bad"),
    )
      ? "bad"
      : "";
    const shown = { n: found.length.toLocaleString(), all: all.length.toLocaleString() };
    put(byID("rooms-shown"), found.length < all.length ? fill(this.words.rooms_shown, shown) : "");
    const empty = byID("rooms-empty");
    empty.hidden = found.length > 0;
    empty.closest(".table-panel").dataset.empty = String(found.length === 0);
    put(empty, this.words.no_rooms);
  }

  #make() {
    const row = byID("rooms-row").content.firstElementChild.cloneNode(true);
    this.#cells.set(
      row,
      Object.fromEntries([...row.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell])),
    );
    return row;
  }

  #fill(row, room) {
    const cells = this.#cells.get(row);
    const now = this.server.now();
    const { name, phone, marketplace } = this.names.of(room.room);
    put(cells.room, name || room.room);
    put(cells.called, [name && room.room, phone, marketplace].filter(Boolean).join(" · "));
    if (cells.room.getAttribute("href") !== roomPage(room.room)) cells.room.href = roomPage(room.room);
    put(cells.holder, room.holder ?? "");
    put(cells.left, room.expires_at == null ? "" : clock(room.expires_at - now));
    put(cells.waiting, count(room.waiting));
    put(cells.away, count(room.away));
    put(cells.oldest, room.oldest > 0 ? elapsed(now - room.oldest) : "");
    put(cells.handoffs, count(room.handoffs));
    this.#troubles(cells.trouble, room.trouble);
  }

  #troubles(cell, troubles) {
    const drawn = troubles.join();
    if (cell.dataset.drawn === drawn) return;
    cell.dataset.drawn = drawn;
    cell.replaceChildren(
      ...troubles.map((name) =>
        make("span", { class: `chip ${kindOf(name)}` }, this.words.troubles[name] ?? name),
      ),
    );
  }
}

/** A zero stays empty: other numbers stand out. */
function count(n) {
  return n > 0 ? n.toLocaleString() : "";
}
