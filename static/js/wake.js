const NAP = 5000; // milliseconds away from the page after which a socket may be dead

/**
 * Calls back when a seller returns to a page that was hidden, put away, frozen or offline. It calls away when
 * the page is being put away, and lost when the machine has no network: the browser notices long before a
 * socket does. signal ends it.
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
  window.addEventListener("offline", lost, { signal });
  window.addEventListener("online", back, { signal });
}
