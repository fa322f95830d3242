import { copy } from "./copy.js";
import { byID, put } from "./dom.js";
import { Refused, wordsOf } from "./http.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Continue on another device: a link that works once, also as a QR code, until it has run out or was used.
 */
export class DeviceLink {
  #state;

  /** actions makes the link; server is the clock of its countdown. */
  constructor({ actions, server, words }) {
    Object.assign(this, { actions, server, words });
    byID("link-copy").hidden = false;
    byID("link-form").addEventListener("submit", (event) => this.#press(event, byID("link-make")));
    byID("link-again").addEventListener("click", (event) => this.#press(event, byID("link-again")));
    byID("link-copy").addEventListener("click", ({ currentTarget: button }) =>
      copy(button, byID("link-url").value, byID("link-url"), { copied: button.dataset.copied }),
    );
    byID("link-close").addEventListener("click", () => {
      this.close();
      byID("link-make").focus();
    });
    byID("link-countdown").addEventListener("wr-tick", ({ detail: left }) => left === 0 && this.#over());
  }

  /** Closes the link when the place changes or ends. */
  check(state) {
    const place = `${state.epoch} ${state.ticket} ${state.status === "waiting" || state.status === "locked"}`;
    if (this.#state !== undefined && this.#state !== place) this.close();
    this.#state = place;
  }

  /** Another device has used the link: scrolls to the page's notice about it. */
  joined() {
    if (byID("link-made").hidden) return;
    this.close();
    byID("notice").scrollIntoView({ block: "center" });
    byID("link-make").focus({ preventScroll: true });
  }

  /** Hides the link. */
  close() {
    byID("link-made").hidden = true;
    byID("link-form").hidden = false;
    byID("link-url").value = "";
    byID("link-qr").lastElementChild.removeAttribute("d");
    byID("link-countdown").run(this.server, null, 0);
    put(byID("link-error"), "");
  }

  async #press(event, button) {
    event.preventDefault();
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    put(byID("link-error"), "");
    try {
      this.#show(await this.actions.link());
    } catch (error) {
      put(byID("link-error"), wordsOf(error, this.words));
      if (!(error instanceof Refused)) throw error;
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  #show({ url, expires_at, qr }) {
    const until = Date.parse(expires_at);
    byID("link-qr").setAttribute("viewBox", `0 0 ${qr.size} ${qr.size}`);
    const code = document.createElementNS(SVG, "path");
    code.setAttribute("d", qr.path);
    byID("link-qr").lastElementChild.replaceWith(code);
    byID("link-url").value = url;
    byID("link-live").hidden = false;
    put(byID("link-over"), "");
    byID("link-form").hidden = true;
    byID("link-made").hidden = false;
    byID("link-countdown").run(this.server, until, until - this.server.now());
    byID("link-made").focus();
    byID("link-made").scrollIntoView({ block: "nearest" });
  }

  #over() {
    byID("link-live").hidden = true;
    put(byID("link-over"), byID("link-over").dataset.words);
  }
}
