const LATELY = 60000; // milliseconds
const USES = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];

/** Whether somebody is at the page: it is on show and was used lately. */
export class Presence {
  #used = -Infinity; // by this machine's clock, which goes on while the machine sleeps
  #pointer; // where on the screen it was seen last

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
    if (!event.isTrusted || (event.type === "pointermove" && !this.#moved(event))) return;
    this.#used = Date.now();
    onUse();
  }

  // Browsers tell of a pointer that lies still too, when a page opens or moves beneath it.
  #moved({ screenX, screenY }) {
    const before = this.#pointer;
    this.#pointer = { screenX, screenY };
    return before && (before.screenX !== screenX || before.screenY !== screenY);
  }
}
