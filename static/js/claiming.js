import { Presence } from "./presence.js";
import { Refused } from "./http.js";

/** Claims the turn of a seller who is at the page; all others see a button. */
export class Claiming {
  #pending = 0; // the fence being claimed
  #refused = 0; // the fence whose claim was refused

  /** onRefused: the seller has to press the button after all. */
  constructor({ actions, store, server, onRefused }) {
    Object.assign(this, { actions, store, server, onRefused });
    this.presence = new Presence(() => this.check());
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Returns whether the page claims the turn without a press, now or soon. */
  get byItself() {
    const { fence, claim_by } = this.store.state;
    return claim_by != null && this.#refused !== fence && (this.#pending === fence || this.presence.here);
  }

  async check() {
    const { fence, claim_by } = this.store.state;
    if (claim_by == null || this.#pending === fence || !this.presence.here) return;
    this.#pending = fence;
    try {
      this.store.applyAnswer(await this.actions.claim(fence), this.server.now());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refused = fence;
      if (this.store.state.fence === fence) this.onRefused();
    }
  }
}
