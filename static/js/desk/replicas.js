import { byID, make } from "../dom.js";
import { fill } from "../words.js";

/** Draws the replicas as rows of a table. */
export function drawReplicas(words, list) {
  byID("replicas").replaceChildren(...list.map((replica) => row(words, replica)));
}

function row(t, { id, name, sockets, watchers, store, ledger, draining }) {
  const state = (fine, words, kind) =>
    make("td", {}, fine ? t.fine : make("span", { class: `chip ${kind}` }, words));
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, name || id, draining && make("span", { class: "chip" }, t.draining)),
    make("td", { class: "num" }, sockets.toLocaleString()),
    make("td", { class: "num" }, watchers.toLocaleString()),
    state(store === "ok", t.no_answer, "bad"),
    state(ledger === "ok", t.behind, "warn"),
  );
}

/** Returns the replicas in one line. */
export function lineOfReplicas(words, list) {
  byID("replicas").replaceChildren(...list.map((replica) => entry(words, replica)));
}

function entry(t, { id, name, store, ledger, draining, differing }) {
  const chip = (on, words, kind = "") => on && make("span", { class: `chip ${kind}` }, words);
  const fine = store === "ok" && ledger === "ok" && !draining && !differing;
  return make("li", {},
    make("span", {}, name || id),
    fine && make("span", { class: "soft" }, t.fine),
    chip(store !== "ok", t.store_stale, "bad"),
    chip(differing, fill(t.settings_differ, { names: differing }), "bad"),
    chip(ledger !== "ok", t.ledger_behind, "warn"),
    chip(draining, t.draining),
  );
}
