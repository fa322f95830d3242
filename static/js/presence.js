const LATELY = 60000; // milliseconds
const USES = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];

/** Whether somebody is at the page: it is on show and was used lately. */
export class Presence {
  #used = -Infinity; // by this machine's clock, which goes on while the machine sleeps

  /** onUse hears each use. */
  constructor(onUse) {
    for (const use of USES) {
      document.addEventListener(use, (event) => this.#use(event, onUse), { capture: true, passive: true });
    }
  }

  get here() {
    return !document.hidden && Date.now() - this.#used < LATELY;
  }

  #use(event, onUse) {
    if (!event.isTrusted) return;
    this.#used = Date.now();
    onUse();
  }
}
