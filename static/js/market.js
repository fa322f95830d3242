/**
 * The marketplace's tab. Browsers open one within a press alone, and not after anything was waited for, so it is opened at once,
 * empty, and given its address later.
 */
export class MarketTab {
  #tab;

  /** words is what it says until then. */
  constructor(words) {
    const tab = open("", "_blank");
    if (!tab || tab === window) return; // blocked; or, inside of some apps, the one window that there is
    this.#tab = tab;
    tab.opener = null;
    tab.document.title = words;
    tab.document.body.textContent = words;
  }

  /** Goes to an address; false where there is no tab, or it was closed meanwhile. */
  go(address) {
    if (!this.#tab || this.#tab.closed) return false;
    this.#tab.location.replace(address);
    return true;
  }

  /** It is not needed. */
  close() {
    this.#tab?.close();
  }
}
