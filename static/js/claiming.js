import { Presence } from "./presence.js";
import { Refused } from "./http.js";

/** Says for a seller who is at the page that they are, when the turn comes; all others are shown a button. */
export class Claiming {
  #pending = 0; // the fence that is being claimed

  constructor({ actions, store, server }) {
    Object.assign(this, { actions, store, server });
    this.presence = new Presence(() => this.check());
    document.addEventListener("visibilitychange", () => this.check());
  }

  async check() {
    const { fence, claim_by } = this.store.state;
    if (claim_by == null || this.#pending === fence || !this.presence.here) return;
    this.#pending = fence;
    try {
      this.store.applyAnswer(await this.actions.claim(fence), this.server.now());
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // the button is there still
    }
  }
}
