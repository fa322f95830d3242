export const byID = (id) => document.getElementById(id);

/** Untouched text does not flicker, and is not read again. */
export function put(element, text) {
  if (element && element.textContent.trim() !== text) element.textContent = text;
}
