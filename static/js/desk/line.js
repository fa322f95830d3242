import { byID, put } from "../dom.js";
import { fill } from "../words.js";
import { seller as timeline } from "./address.js";
import { Grid } from "./grid.js";
import { RowMenu } from "./menu.js";
import { Search } from "./search.js";
import { elapsed } from "./time.js";

const MARKED = 10000; // milliseconds

/** The line: all waiting sellers, in order. */
export class LinePanel {
  #marks = new Map(); // ticket → the result of the last action
  #cells = new WeakMap();

  /** verbs: {move, remove} of a row; none for an agent who may only watch. */
  constructor({ words, model, server, room, verbs }) {
    Object.assign(this, { words, model, server, room, verbs });
    this.menu = new RowMenu(byID("row-menu"));
    this.grid = new Grid({
      root: byID("line"),
      rows: byID("line-rows"),
      make: () => this.#make(),
      draw: (row, entry) => this.#fill(row, entry),
      key: (entry) => entry.ticket,
      onOpen: (entry, row) => this.#open(entry, row),
    });
    this.search = new Search(byID("search"), () => this.#look(), () => this.grid.focus());
  }

  draw() {
    const { line, away } = this.model;
    const found = this.search.empty ? line : line.filter((row) => this.#matches(row));
    this.grid.show(found);
    this.positions = this.search.empty ? null : new Map(line.map((row, i) => [row.ticket, i + 1]));
    put(byID("line-count"), fill(this.words.people, { n: line.length.toLocaleString() }));
    put(byID("line-away"), away > 0 ? fill(this.words.away_count, { n: away.toLocaleString() }) : "");
    const shown = { n: found.length.toLocaleString(), all: line.length.toLocaleString() };
    put(byID("line-shown"), this.search.empty ? "" : fill(this.words.shown, shown));
    const empty = byID("line-empty");
    empty.hidden = found.length > 0;
    empty.closest(".table-panel").dataset.empty = String(found.length === 0);
    put(empty, line.length > 0 ? this.words.no_match : this.words.no_line);
  }

  /** Shows the result of an action in a row, for a while. */
  mark(ticket, words) {
    this.#marks.set(ticket, words);
    this.grid.redraw();
    setTimeout(() => {
      if (this.#marks.get(ticket) === words) this.#marks.delete(ticket);
      this.grid.redraw();
    }, MARKED);
  }

  #look() {
    this.grid.forget();
    this.draw();
  }

  #matches({ seller, ticket }) {
    return this.search.matches(seller) || String(ticket) === this.search.text;
  }

  #make() {
    const row = byID("line-row").content.firstElementChild.cloneNode(true);
    const cells = Object.fromEntries(
      [...row.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]),
    );
    const more = row.querySelector(".more");
    more.addEventListener("click", () => this.#open(this.model.find(Number(row.dataset.key)), row));
    this.#cells.set(row, { ...cells, more });
    return row;
  }

  #fill(row, entry) {
    const cells = this.#cells.get(row);
    const now = this.server.now();
    const { seller, ticket, joined, away } = entry;
    put(cells.position, this.#position(row, ticket).toLocaleString());
    put(cells.ticket, String(ticket));
    put(cells.waited, elapsed(now - joined));
    put(
      cells.state,
      this.#marks.get(ticket) ??
        (away > 0 ? fill(this.words.away_for, { time: elapsed(now - away) }) : this.words.connected),
    );
    row.dataset.away = String(away > 0);
    row.dataset.marked = String(this.#marks.has(ticket));
    if (cells.seller.textContent === seller) return;
    put(cells.seller, seller);
    cells.seller.href = timeline(seller, this.room);
    cells.more.setAttribute("aria-label", fill(this.words.actions_for, { seller }));
  }

  #position(row, ticket) {
    return this.positions?.get(ticket) ?? Number(row.getAttribute("aria-rowindex")) - 1;
  }

  #open(entry, row) {
    if (!entry || !row) return;
    const back = () => this.grid.row(entry.ticket)?.focus({ preventScroll: true });
    this.menu.open(row.querySelector(".more"), {
      timeline: timeline(entry.seller, this.room),
      back,
      act: (verb) => this.verbs?.[verb](entry, back),
    });
  }
}
