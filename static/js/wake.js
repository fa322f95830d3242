const NAP = 5000; // milliseconds away from the page after which a socket may be dead

const APART = 2000; // milliseconds by which the clocks of one machine do not drift within a second

/**
 * Calls back when a seller returns to a page that was hidden, put away, frozen or offline, and after the
 * machine slept or its clock was set: the page cannot know which, and the server does. It calls away when the
 * page is being put away, and lost when the machine has no network: the browser notices long before a socket
 * does. signal ends it.
 */
export function whenBack({ back, away, lost = () => {}, signal }) {
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > NAP) back();
  }, { signal });
  window.addEventListener("pageshow", (event) => event.persisted && back(), { signal });
  window.addEventListener("pagehide", away, { signal });
  // A frozen page gets no frames of a turn. Its last act is to leave, so that the turn goes
  // to a seller who is there.
  document.addEventListener("freeze", away, { signal });
  document.addEventListener("resume", back, { signal });
  watchClock(back, signal);
  window.addEventListener("offline", lost, { signal });
  window.addEventListener("online", back, { signal });
}

/** performance.now() runs on whatever the machine's clock is set to, and may stop during a sleep. */
function watchClock(jumped, signal) {
  const apart = () => Date.now() - performance.now();
  let before = apart();
  const timer = setInterval(() => {
    const now = apart();
    const jump = Math.abs(now - before) > APART;
    before = now;
    if (jump) jumped();
  }, 1000);
  signal?.addEventListener("abort", () => clearInterval(timer));
}
