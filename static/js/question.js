import { closeModal, isModal, openModal } from "./modal.js";

/** Asks before an action that cannot be undone: #<name>-dialog with its -stay and its form. */
export class Question {
  #dialog;

  /** openers are the ids of buttons whose forms ask first. */
  constructor(name, openers, onYes) {
    this.#dialog = document.getElementById(`${name}-dialog`);
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
    if (asked) {
      history.replaceState(history.state, "", location.pathname);
      this.ask();
    }
  }

  ask() {
    openModal(this.#dialog);
  }

  /** Closes it also when the state changes under the question: it is then another one. */
  close() {
    closeModal(this.#dialog);
  }
}
