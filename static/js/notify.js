const WORKER = "/worker.js";
const SCOPE = "/rooms/";

/**
 * Notifications, by the service worker where there is one: phones show none that a page makes itself.
 * If the server pushes too, they also come when no page is open. The worker is loaded only when the
 * seller wants notifications.
 */
export class Notifier {
  #worker = null; // a promise of the registration
  #shows = true; // as far as is known
  #kept = null; // the ticket of the place for which the server has this browser's subscription
  #asked = null;
  #shown = null; // by the page itself

  /** subscribe sends the server a subscription; key: the server's push key, none if it pushes nothing. */
  constructor({ room, icon, key, subscribe, onChange = () => {} }) {
    Object.assign(this, { tag: `waitroom:${room}`, icon, key, subscribe, onChange });
    if (this.wanted) this.#start();
  }

  get possible() {
    return "Notification" in window && window.isSecureContext && this.#shows;
  }

  get wanted() {
    return this.possible && Notification.permission === "granted";
  }

  /**
   * "none", "home" (on iOS, from the Home Screen alone), "off", "blocked", "open" (they come while the page
   * is open) or "closed" (also when it is not).
   */
  get state() {
    if (!this.possible) return onlyFromHomeScreen() ? "home" : "none";
    if (!this.wanted) return Notification.permission === "denied" ? "blocked" : "off";
    return this.#kept != null && this.#kept === this.ticket ? "closed" : "open";
  }

  /** Asks the seller for permission; call it for a press. */
  async ask() {
    await Notification.requestPermission();
    if (this.wanted) this.#start();
    this.onChange();
  }

  /** Follows the live place, by its ticket; null: there is none. */
  follow(ticket) {
    if (this.ticket === ticket) return;
    this.ticket = ticket;
    this.#join();
    this.onChange();
  }

  /** Shows a notification to a seller who looks elsewhere. */
  async show(title, body) {
    if (document.hidden && this.wanted) await this.put(title, body);
  }

  /** Shows a notification, wherever the seller looks. */
  async put(title, body) {
    const worker = await this.#worker;
    if (worker) {
      const data = { paths: [location.pathname] };
      await worker
        .showNotification(title, { body, tag: this.tag, icon: this.icon, renotify: true, data })
        .catch(() => this.#cannot());
    } else {
      this.#showAlone(title, body);
    }
  }

  /** Closes the notification on show. */
  async close() {
    this.#shown?.close();
    this.#shown = null;
    const worker = await this.#worker;
    for (const one of (await worker?.getNotifications({ tag: this.tag })) ?? []) one.close();
  }

  #showAlone(title, body) {
    try {
      this.#shown = new Notification(title, { body, tag: this.tag, icon: this.icon });
      this.#shown.onclick = () => {
        window.focus();
        this.close();
      };
    } catch {
      this.#cannot();
    }
  }

  #cannot() {
    this.#shows = false;
    this.onChange();
  }

  #start() {
    this.#worker ??= register();
    this.#join();
  }

  /**
   * Subscribes to the server's pushes for this place, once. After a failure notifications come
   * only while the page is open.
   */
  async #join() {
    const { ticket } = this;
    if (!this.key || ticket == null || this.#asked === ticket || !this.wanted) return;
    this.#asked = ticket;
    try {
      const worker = await this.#worker;
      if (!worker?.pushManager) return;
      await this.subscribe((await subscriptionOf(worker, this.key)).toJSON());
      this.#kept = ticket;
      this.onChange();
    } catch {
      this.#asked = null;
    }
  }
}

/**
 * Only Safari on iOS has navigator.standalone. It has no notifications unless the page was
 * opened from the Home Screen.
 */
function onlyFromHomeScreen() {
  return (
    navigator.standalone === false &&
    window.top === window &&
    window.isSecureContext &&
    !("Notification" in window)
  );
}

/** Returns the running worker; undefined if there is none. */
async function register() {
  try {
    const registration = await navigator.serviceWorker.register(WORKER, { scope: SCOPE });
    await running(registration);
    return registration;
  } catch {
    return undefined; // a browser without workers, or one that refuses this
  }
}

function running({ active, waiting, installing }) {
  if (active) return active;
  const worker = installing ?? waiting;
  return new Promise((resolve, reject) => {
    const check = () => {
      if (worker.state === "activated") resolve(worker);
      if (worker.state === "redundant") reject(new Error("worker was replaced"));
    };
    worker.addEventListener("statechange", check);
    check();
  });
}

/**
 * Returns the browser's subscription for this server's key. It drops one for an earlier key of the server.
 */
async function subscriptionOf({ pushManager }, key) {
  const have = await pushManager.getSubscription();
  const wanted = bytes(key);
  if (have && same(have.options.applicationServerKey, wanted)) return have;
  await have?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: wanted });
}

function bytes(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function same(buffer, wanted) {
  const have = new Uint8Array(buffer ?? 0);
  return have.length === wanted.length && have.every((byte, i) => byte === wanted[i]);
}
