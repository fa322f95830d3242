import { Chime } from "./chime.js";
import { byID, put } from "./dom.js";

/** Every alert that reaches a seller who looks elsewhere. */
export class TurnAlert {
  constructor({ words, icons, notifier }) {
    Object.assign(this, { words, icons, notifier, chime: new Chime() });
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

  /** The turn comes near. */
  near(words) {
    this.chime.call(1);
    buzz([120]);
    this.#notify(words);
  }

  /** The turn is nearly over. */
  hurry() {
    this.chime.call(1);
    buzz([200, 100, 200]);
  }

  /** A message has come; code: it has a code for this seller. */
  message(code) {
    this.chime.call(1);
    buzz([200]);
    this.#notify(code ? this.words.notify_code : this.words.notify_text);
  }

  over() {
    this.chime.hush();
    this.notifier.close();
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
    this.notifier.show(title, lead);
  }
}

/** Shows each kind of alert with its state: after each reload a press has to arm the sound again. */
export function offerAlerts(alert) {
  const { chime, words } = alert;
  byID("alerts").hidden = false;
  const stateWords = { on: words.turned_on, off: words.turned_off, stopped: words.sound_stopped };
  const show = () => {
    const button = byID("sound-test");
    put(byID("sound-state"), stateWords[chime.state]);
    put(button, chime.armed ? button.dataset.on : button.dataset.off);
  };
  chime.onChange = show;
  show();
  byID("sound-test").addEventListener("click", async () => {
    await chime.arm();
    chime.play();
  });
  offerNotifications(alert);
}

function offerNotifications({ words, notifier }) {
  const stateWords = {
    none: words.untold,
    home: words.told_home,
    blocked: words.blocked,
    off: words.turned_off,
    open: words.told_open,
    closed: words.told_closed,
  };
  const show = () => {
    put(byID("notify-note"), stateWords[notifier.state]);
    byID("notify").hidden = notifier.state !== "off";
  };
  byID("notify-row").hidden = false;
  notifier.onChange = show;
  show();
  byID("notify").addEventListener("click", () => notifier.ask());
}

function buzz(pattern) {
  if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(pattern);
}
