export const byID = (id) => document.getElementById(id);

/** Sets an element's text only where it differs: untouched text does not flicker, and is not read again. */
export function put(element, text) {
  if (element && element.textContent.trim() !== text) element.textContent = text;
}

/** Makes an element from its attributes and content. It leaves out what is false or null. */
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((part) => part != null && part !== false && part !== ""));
  return element;
}
