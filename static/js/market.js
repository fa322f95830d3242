/**
 * The marketplace's tab. Browsers open one only within a press, and not after a wait, so it opens at once,
 * empty, and gets its address later.
 */
export class MarketTab {
  #tab;

  /** words is the tab's text until then. */
  constructor(words) {
    const tab = open("", "_blank");
    if (!tab || tab === window) return; // blocked; or the only window, inside some apps
    this.#tab = tab;
    tab.opener = null;
    tab.document.title = words;
    tab.document.body.textContent = words;
  }

  /** Goes to an address; returns false if there is no tab, or the seller closed it meanwhile. */
  go(address) {
    if (!this.#tab || this.#tab.closed) return false;
    this.#tab.location.replace(address);
    return true;
  }

  /** Closes a tab that is not needed. */
  close() {
    this.#tab?.close();
  }
}
