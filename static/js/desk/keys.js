import { byID } from "../dom.js";
import { openModal } from "../modal.js";

const KEPT = "desk-keys";

/**
 * Single-key shortcuts. They rest while a field or a dialog has the keyboard, and can be switched
 * off: speech input types without meaning to. A letter counts by its key on the board too, so that it
 * works while Korean is typed.
 */
export class Keys {
  #actions = new Map();

  constructor() {
    this.help = byID("help");
    const on = byID("keys-on");
    on.checked = keysAreOn();
    on.addEventListener("change", () => remember(on.checked ? "on" : "off"));
    byID("help-open").addEventListener("click", () => openModal(this.help));
    this.on("?", () => openModal(this.help));
    document.addEventListener("keydown", (event) => this.#press(event, on.checked));
  }

  on(key, action) {
    this.#actions.set(key, action);
  }

  #press(event, on) {
    if (!on || !isFree(event)) return;
    const action = this.#actions.get(event.key) ?? this.#actions.get(latinKey(event));
    if (!action) return;
    event.preventDefault();
    action();
  }
}

function latinKey({ key, code, shiftKey }) {
  if (/^[a-z]$/i.test(key) || shiftKey) return "";
  return /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : "";
}

/** Returns whether a key is pressed alone, and nothing else has a use for it. */
export function isFree(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  return !document.querySelector("dialog[open], [popover]:popover-open") && !takes(event);
}

/**
 * Returns whether the focused element uses the key itself. A field of a dialog that was just closed may have
 * the focus for one more frame.
 */
function takes({ key, target }) {
  if (target.getClientRects().length === 0) return false;
  if (key === "Enter") return target.closest("a, button, summary, input, textarea, select") != null;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Returns whether this browser uses single keys. */
export function keysAreOn() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
}

function remember(value) {
  try {
    localStorage.setItem(KEPT, value);
  } catch {
    // Private windows may refuse; the choice then lasts for this page only.
  }
}
