const TYPED = "waitroom.typed"; // in sessionStorage: the text of the seller's field
const COOKIE = /(?:^|; )waitroom_lang=([\w-]+)/;

/**
 * Makes a change of language replace the history entry. Back leads to the previous page, never to this one in
 * the old language.
 */
export function keepLanguage(lang) {
  const address = new URL(location.href);
  if (address.searchParams.has("lang")) {
    address.searchParams.delete("lang");
    history.replaceState(history.state, "", address.pathname + address.search);
  }
  bringTyped();
  const menu = document.getElementById("lang");
  menu.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // opens another tab
    event.preventDefault();
    keepTyped();
    location.replace(link.href);
  });
  closing(menu);
  window.addEventListener("pageshow", (event) => {
    const chosen = COOKIE.exec(document.cookie)?.[1];
    if (event.persisted && chosen && chosen !== lang) location.reload();
  });
}

/** Closes an open menu at a click or focus outside it, or at Escape. */
function closing(menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/** Keeps the typed name: a seller may notice the wrong language while filling in the form. */
function keepTyped() {
  try {
    sessionStorage.setItem(TYPED, sellerField()?.value ?? "");
  } catch {
    // in a browser that stores nothing the seller types it again
  }
}

function bringTyped() {
  try {
    const typed = sessionStorage.getItem(TYPED);
    sessionStorage.removeItem(TYPED);
    const field = sellerField();
    if (typed && field?.value === "") field.value = typed;
  } catch {
    // as above
  }
}

function sellerField() {
  return document.querySelector('#seller-id:not([type="hidden"])');
}
