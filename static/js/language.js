const COOKIE = /(?:^|; )waitroom_lang=(\w+)/;

/** Has the language be one entry of the browser's history: back leads to the page before, and never to this one in the old language. */
export function keepLanguage(lang) {
  const address = new URL(location.href);
  if (address.searchParams.has("lang")) {
    address.searchParams.delete("lang");
    history.replaceState(history.state, "", address.pathname + address.search);
  }
  document.getElementById("lang").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
    event.preventDefault();
    location.replace(event.currentTarget.href);
  });
  window.addEventListener("pageshow", (event) => {
    const chosen = COOKIE.exec(document.cookie)?.[1];
    if (event.persisted && chosen && chosen !== lang) location.reload();
  });
}
