const NAP = 5000; // milliseconds away from the page that a socket is trusted to have slept well

/**
 * Tells when somebody is back at a page that may have missed something: it was hidden, put
 * away, frozen or offline. away tells that the page is being put away. signal ends it.
 */
export function whenBack({ back, away, signal }) {
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > NAP) back();
  }, { signal });
  window.addEventListener("pageshow", (event) => event.persisted && back(), { signal });
  window.addEventListener("pagehide", away, { signal });
  window.addEventListener("online", back, { signal });
}
