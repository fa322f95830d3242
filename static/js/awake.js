/** Keeps the screen on while it is wanted and the page is visible, where the browser can. */
export class Awake {
  #wanted = false;
  #lock = null; // a promise of the lock, or null

  /** onChange receives whether the screen stays on. */
  constructor(onChange) {
    this.onChange = onChange;
    document.addEventListener("visibilitychange", () => this.#check());
  }

  static get possible() {
    return "wakeLock" in navigator;
  }

  want(wanted) {
    this.#wanted = wanted;
    this.#check();
  }

  #check() {
    if (!Awake.possible) return;
    if (!this.#wanted) this.#release();
    else if (!document.hidden && !this.#lock) this.#request();
  }

  #request() {
    const request = navigator.wakeLock.request("screen");
    this.#lock = request;
    request.then(
      (lock) => {
        if (this.#lock !== request) return lock.release();
        // The browser releases it when the page is hidden or the battery low.
        lock.addEventListener("release", () => this.#lock === request && this.#gone());
        this.onChange(true);
      },
      () => this.#lock === request && this.#gone(),
    );
  }

  #release() {
    const lock = this.#lock;
    if (!lock) return;
    this.#gone();
    lock.then((held) => held.release(), () => {});
  }

  #gone() {
    this.#lock = null;
    this.onChange(false);
  }
}
