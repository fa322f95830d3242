import { closeModal, isModal, openModal } from "./modal.js";

/** Asks before an action that cannot be undone: #<name>-dialog with its -stay and its form. */
export class Question {
  #dialog;
  #speaker;

  /** openers are the ids of buttons whose forms ask first. */
  constructor(name, openers, speaker, onYes) {
    this.#dialog = document.getElementById(`${name}-dialog`);
    this.#speaker = speaker;
    // Without JavaScript the question is part of the page; here it is a dialog.
    const asked = isModal(this.#dialog);
    closeModal(this.#dialog);
    for (const id of openers) {
      document.getElementById(id).form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.ask();
      });
    }
    document.getElementById(`${name}-stay`).addEventListener("click", (event) => {
      event.preventDefault();
      this.close();
    });
    this.#dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.close();
      onYes();
    });
    this.#dialog.addEventListener("cancel", () => this.#speaker.move(document.body)); // by Escape
    if (asked) {
      history.replaceState(history.state, "", location.pathname);
      this.ask();
    }
  }

  ask() {
    openModal(this.#dialog);
    this.#speaker.move(this.#dialog);
  }

  /**
   * Closes it also when the state changes under the question: it is then another one. Returns whether it was
   * open: the focus is then where it was before, which may be gone.
   */
  close() {
    if (!isModal(this.#dialog)) return false;
    closeModal(this.#dialog);
    this.#speaker.move(document.body);
    return true;
  }
}
