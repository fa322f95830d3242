const NAP = 5000; // milliseconds away from the page that a socket is trusted to have slept well

/**
 * Tells when somebody is back at a page that may have missed something: it was hidden, put
 * away, frozen or offline. away tells that the page is being put away, and lost that the machine has no network any
 * more: the browser knows long before a socket does. signal ends it.
 */
export function whenBack({ back, away, lost = () => {}, signal }) {
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > NAP) back();
  }, { signal });
  window.addEventListener("pageshow", (event) => event.persisted && back(), { signal });
  window.addEventListener("pagehide", away, { signal });
  // A frozen page hears of no turn: that it is gone is the last that it can say. Whoever it is given to then is there.
  document.addEventListener("freeze", away, { signal });
  document.addEventListener("resume", back, { signal });
  window.addEventListener("offline", lost, { signal });
  window.addEventListener("online", back, { signal });
}
