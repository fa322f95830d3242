const LATELY = 60000; // milliseconds
const USES = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];

/** Returns whether the seller is at the page: it is visible and was used lately. */
export class Presence {
  #used = -Infinity; // by this machine's clock, which goes on while the machine sleeps
  #mouse; // its last place on the screen

  /** onUse runs at each use. */
  constructor(onUse) {
    for (const use of USES) {
      document.addEventListener(use, (event) => this.#use(event, onUse), { capture: true, passive: true });
    }
  }

  get here() {
    return !document.hidden && Date.now() - this.#used < LATELY;
  }

  #use(event, onUse) {
    if (!event.isTrusted || this.#liesStill(event)) return;
    this.#used = Date.now();
    onUse();
  }

  // Browsers send events of an unmoved mouse, too, when a page opens or moves beneath it.
  #liesStill({ type, pointerType, screenX, screenY }) {
    if (type !== "pointermove" || pointerType !== "mouse") return false;
    const before = this.#mouse;
    this.#mouse = { screenX, screenY };
    return !before || (before.screenX === screenX && before.screenY === screenY);
  }
}
