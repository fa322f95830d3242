import { put } from "./dom.js";

const SHOWN = 3000; // milliseconds that a button confirms the copy

/** Makes a button copy a text and confirm it. If that is not possible, it selects place and returns false. */
export async function copy(button, text, place, words) {
  if (!(await copied(text))) {
    if (place.select) place.select();
    else getSelection().selectAllChildren(place);
    return false;
  }
  put(button, words.copied);
  setTimeout(() => put(button, button.dataset.copy), SHOWN);
  return true;
}

/**
 * Puts a text into the clipboard, and returns whether it is there. In-app browsers refuse the clipboard's own
 * interface, and it exists in secure contexts only; the older command works in a press.
 */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return command(text);
  }
}

/** The command copies what is selected, so the text is selected in a field of its own. */
function command(text) {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true; // no keyboard opens
  field.className = "unseen";
  document.body.append(field);
  field.focus({ preventScroll: true });
  field.setSelectionRange(0, text.length);
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    before?.focus?.({ preventScroll: true });
  }
}
