import { put } from "./dom.js";

const SAID = 3000; // milliseconds that a button says what it has done

/** Makes a button copy a text, and say so itself. Where that is not possible, place is selected and the answer is false. */
export async function copy(button, text, place, words) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(place);
    return false;
  }
  put(button, words.copied);
  setTimeout(() => put(button, button.dataset.copy), SAID);
  return true;
}
