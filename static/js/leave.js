/** The question before a place or a turn is given up. */
export class LeaveQuestion {
  #dialog = document.getElementById("leave-dialog");

  constructor(onYes) {
    // Without JavaScript the question is part of the page; here it is asked properly.
    const asked = this.#dialog.open;
    if (asked) this.#dialog.close();
    for (const id of ["leave", "cancel"]) {
      document.getElementById(id).form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.ask();
      });
    }
    document.getElementById("leave-stay").addEventListener("click", (event) => {
      event.preventDefault();
      this.close();
    });
    document.getElementById("leave-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.close();
      onYes();
    });
    if (asked) {
      history.replaceState(null, "", location.pathname);
      this.ask();
    }
  }

  ask() {
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  /** Also when the state changes under the question: it is then no longer the same one. */
  close() {
    if (this.#dialog.open) this.#dialog.close();
  }
}
