export const byID = (id) => document.getElementById(id);

/** Untouched text does not flicker, and is not read again. */
export function put(element, text) {
  if (element && element.textContent.trim() !== text) element.textContent = text;
}

/** Makes an element: its attributes, and what is in it. What is false or null is left out. */
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((part) => part != null && part !== false && part !== ""));
  return element;
}
