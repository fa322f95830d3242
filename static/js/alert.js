import { Chime } from "./chime.js";

/** Everything that reaches a seller who is looking elsewhere. */
export class TurnAlert {
  constructor({ words, icons, room }) {
    this.words = words;
    this.icons = icons;
    this.room = room;
    this.chime = new Chime();
    this.shown = null;
    for (const press of ["pointerdown", "keydown"]) {
      document.addEventListener(press, () => {
        this.chime.arm();
        this.chime.hush();
      });
    }
  }

  turn() {
    this.chime.call(3);
    buzz([300, 120, 300, 120, 500]);
    this.#notify(this.words.notify_turn);
  }

  /** A message has come; code: it has one that is mine. */
  message(code) {
    this.chime.call(1);
    buzz([200]);
    this.#notify(code ? this.words.notify_code : this.words.notify_text);
  }

  over() {
    this.chime.hush();
    this.shown?.close();
    this.shown = null;
  }

  title(text) {
    const whole = text ? text : this.words.brand;
    if (document.title !== whole) document.title = whole;
  }

  icon(turn) {
    const link = document.querySelector('link[rel="icon"]');
    const href = turn ? this.icons.turn : this.icons.waiting;
    if (link.getAttribute("href") !== href) link.setAttribute("href", href);
  }

  /** The code never goes into a notification: those show on locked screens. */
  #notify({ title, lead }) {
    if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    try {
      this.shown = new Notification(title, { body: lead, tag: `waitroom:${this.room}`, icon: this.icons.turn });
      this.shown.onclick = () => {
        window.focus();
        this.over();
      };
    } catch {
      // Some phones only allow notifications from a service worker.
    }
  }
}

/** Offers sound and notifications while waiting. */
export function offerAlerts(alert) {
  const { words, chime } = alert;
  document.getElementById("alerts").hidden = !("AudioContext" in window);
  document.getElementById("sound-test").addEventListener("click", () => {
    chime.arm();
    // The context needs a moment to wake up on the very first press.
    setTimeout(() => chime.play(), 60);
  });
  const ask = document.getElementById("notify");
  const note = document.getElementById("notify-note");
  if (!("Notification" in window) || !window.isSecureContext) return;
  ask.hidden = Notification.permission !== "default";
  ask.addEventListener("click", async () => {
    const answer = await Notification.requestPermission();
    if (answer === "default") return;
    ask.hidden = true;
    note.textContent = answer === "granted" ? words.notify_on : words.notify_off;
  });
}

function buzz(pattern) {
  if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(pattern);
}
