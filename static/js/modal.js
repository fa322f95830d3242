/**
 * Opens a dialog above the page. iOS before 15.4 knows no dialogs: there it stands at the head of the page,
 * as it does without a script.
 */
export function openModal(dialog) {
  if (isModal(dialog)) return;
  if (dialog.showModal) {
    dialog.dataset.modal = "true"; // for the styles: :modal is younger than the browsers
    return dialog.showModal(); // eslint-disable-line no-restricted-syntax
  }
  dialog.setAttribute("open", "");
  dialog.setAttribute("role", "dialog");
  dialog.scrollIntoView({ block: "center" });
  dialog.querySelector("button, input, select, textarea, a[href]")?.focus();
}

export function closeModal(dialog) {
  if (!isModal(dialog)) return;
  if (dialog.close) return dialog.close();
  dialog.removeAttribute("open");
  dialog.dispatchEvent(new Event("close"));
}

export function isModal(dialog) {
  return dialog.hasAttribute("open");
}
