import { Chime } from "./chime.js";
import { byID, put } from "./dom.js";
import { fill } from "./words.js";

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
  const { chime, notifier, words } = alert;
  let checked = false;
  let tried = null; // a promise, while the browser's question for permission has no answer
  let answered = false;
  const showSound = () => {
    const button = byID("sound-test");
    const state = soundState(alert);
    put(byID("sound-state"), state);
    put(button, chime.armed ? button.dataset.on : button.dataset.off);
    if (checked) put(byID("check-sound"), fill(words.check_sound, { state }));
  };
  // Only a change of the notifications hides their button: a press arms the sound too, before it is a click.
  const showNotify = () => {
    const state = notifyState(alert);
    put(byID("notify-note"), state);
    byID("notify").hidden = notifier.state !== "off";
    if (answered) put(byID("check-notify"), fill(words.check_notify, { state }));
  };
  for (const id of ["alerts", "notify-row", "check", "check-lead"]) byID(id).hidden = false;
  chime.onChange = showSound;
  notifier.onChange = showNotify;
  showSound();
  showNotify();
  const play = () => chime.arm().then(() => chime.play());
  byID("sound-test").addEventListener("click", play);
  byID("notify").addEventListener("click", () => notifier.ask());
  byID("check").addEventListener("click", async ({ currentTarget: button }) => {
    const asking = (tried ??= tryNotification(alert));
    await play();
    checked = true;
    byID("check-lead").hidden = true;
    put(button, button.dataset.checked);
    showSound();
    await asking;
    tried = null;
    answered = true;
    showNotify();
  });
}

function soundState({ chime, words }) {
  return { on: words.turned_on, off: words.turned_off, stopped: words.sound_stopped }[chime.state];
}

function notifyState({ notifier, words }) {
  return {
    none: words.untold,
    home: words.told_home,
    blocked: words.blocked,
    off: words.turned_off,
    open: words.told_open,
    closed: words.told_closed,
  }[notifier.state];
}

/** A browser asks for permission in the press alone, so nothing is awaited before. */
async function tryNotification({ notifier, words }) {
  if (notifier.state === "off") await notifier.ask();
  const { title, lead } = words.notify_check;
  if (notifier.wanted) await notifier.put(title, lead);
}

function buzz(pattern) {
  if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(pattern);
}
