import { Refused, freshKey } from "./http.js";

const WORTH = 3000; // milliseconds of waiting that are worth asking to be made up for

/** The holder's asks: each is told to the server with a key, so that a repeat is the same ask. */
export class Asking {
  #keys = new Map(); // what is asked → its key, until there is an answer
  #pending = false;

  constructor({ actions, store, journey, server }) {
    Object.assign(this, { actions, store, journey, server });
  }

  /** Asks now; or, with the id of a message, says that it had been asked for. */
  async ask(message) {
    const { fence } = this.store.state;
    const what = `${fence} ${message ?? ""}`;
    if (!this.#keys.has(what)) this.#keys.set(what, freshKey());
    try {
      const answer = await this.actions.expect(fence, this.#keys.get(what), { message_id: message });
      this.#keys.delete(what);
      return answer;
    } catch (error) {
      if (error.final) this.#keys.delete(what);
      throw error;
    }
  }

  /**
   * While the number is busy the lease is put off by what it has to wait, once, by the first ask
   * that is refused for it. The page makes that ask for a seller who is there, who is shown from
   * when to ask instead of a button.
   */
  async putOff() {
    const { state } = this.store;
    const wait = (state.codes?.ask_after ?? 0) - this.server.now();
    if (state.status !== "locked" || document.hidden || this.#pending || wait < WORTH || this.journey.wasPutOff(state)) return;
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

  /** Notes from when to ask, as a refusal said. */
  refused(error, state = this.store.state) {
    this.journey.putOff(state);
    this.store.applyBusy(state.fence, Date.parse(error.problem.ask_after));
  }
}
