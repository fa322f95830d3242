import { Refused, freshKey } from "./http.js";

const WORTH = 3000; // milliseconds of waiting that are worth an ask to make up for

/** The holder's asks: each is sent with a key, so that a repeat is the same ask. */
export class Asking {
  #keys = new Map(); // ask → its key, until there is an answer
  #pending = false;

  /** filter() returns which messages an ask takes: the chosen marketplace's. */
  constructor({ actions, store, journey, server, filter }) {
    Object.assign(this, { actions, store, journey, server, filter });
  }

  /** Records an ask; with a message's id, an earlier ask that brought this message. */
  async ask(message) {
    const { fence } = this.store.state;
    const filter = message ? { message_id: message } : this.filter();
    const what = `${fence} ${JSON.stringify(filter)}`;
    if (!this.#keys.has(what)) this.#keys.set(what, freshKey());
    try {
      const answer = await this.actions.expect(fence, this.#keys.get(what), filter);
      this.#keys.delete(what);
      return answer;
    } catch (error) {
      if (error.final) this.#keys.delete(what);
      throw error;
    }
  }

  /**
   * While the number is busy, the first refused ask extends the lease by the wait, once. The page makes that
   * ask for a seller who is there; the seller sees when to ask instead of a button.
   */
  async putOff() {
    const { state } = this.store;
    const wait = (state.codes?.ask_after ?? 0) - this.server.now();
    if (
      state.status !== "locked" ||
      document.hidden ||
      this.#pending ||
      wait < WORTH ||
      this.journey.wasPutOff(state)
    )
      return;
    this.#pending = true;
    try {
      this.store.applyExpectation(await this.ask());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.code === "number_busy") this.refused(error, state);
    } finally {
      this.#pending = false;
    }
  }

  /** Records from when the holder may ask, as a refusal contains it. */
  refused(error, state = this.store.state) {
    this.journey.putOff(state);
    this.store.applyBusy(state.fence, Date.parse(error.problem.ask_after));
  }
}
