const NAP = 5000; // milliseconds away from the page that a socket is trusted to have slept well

/**
 * Tells when somebody is back at a page that may have missed something: it was hidden, put
 * away, frozen or offline. away tells that the page is being put away.
 */
export function whenBack({ back, away }) {
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > NAP) back();
  });
  window.addEventListener("pageshow", (event) => event.persisted && back());
  window.addEventListener("pagehide", away);
  window.addEventListener("online", back);
}
