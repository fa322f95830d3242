const TYPED = "waitroom.typed"; // in sessionStorage: what stood in the seller's field
const COOKIE = /(?:^|; )waitroom_lang=([\w-]+)/;

/** Has the language be one entry of the browser's history: back leads to the page before, and never to this one in the old language. */
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
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
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

/** A menu that is open closes where somebody goes on elsewhere, or by Escape. */
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

/** Who is in the wrong language may see it at the form that they are filling in. */
function keepTyped() {
  try {
    sessionStorage.setItem(TYPED, sellerField()?.value ?? "");
  } catch {
    // a browser that stores nothing has it typed again
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
