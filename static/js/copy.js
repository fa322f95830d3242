import { put } from "./dom.js";

const SHOWN = 3000; // milliseconds that a button confirms the copy

/**
 * Makes a button copy a text and confirm it. If that is not possible, it selects place and returns false.
 */
export async function copy(button, text, place, words) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(place);
    return false;
  }
  put(button, words.copied);
  setTimeout(() => put(button, button.dataset.copy), SHOWN);
  return true;
}
