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

/** The marketplace that the seller chooses, where the room has several; the page remembers it. */
export class MarketChoice {
  #markets;
  #select = document.getElementById("market-choice");
  #key;

  constructor(markets, room) {
    this.#markets = markets ?? [];
    this.#key = `waitroom:market:${room}`;
    if (!this.#select) return;
    const at = this.#markets.findIndex((m) => m.name === remembered(this.#key));
    if (at > 0) this.#select.value = String(at);
    this.#select.addEventListener("change", () => {
      remember(this.#key, this.chosen.name);
      this.#link();
    });
    this.#link();
  }

  get chosen() {
    return this.#markets[Number(this.#select?.value ?? 0)] ?? {};
  }

  /** Returns which messages an ask takes. */
  filter() {
    const { from, contains } = this.chosen;
    return { from, contains };
  }

  #link() {
    document.getElementById("ask").dataset.opens = this.chosen.url;
    for (const id of ["market", "ready-market"]) {
      const link = document.getElementById(id);
      if (link) link.href = this.chosen.url;
    }
  }
}

function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // the browser denies storage
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // the next visit asks again
  }
}
