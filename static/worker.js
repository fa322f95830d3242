/**
 * The service worker of the seller's page. It shows waitroom's pushes while no page of the room is visible,
 * and leads back there.
 */

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => event.waitUntil(showPush(event.data.json())));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.paths));
});

/** WebKit ends the subscription where a push shows nothing, also when the room is visible. */
const ALWAYS =
  /AppleWebKit/.test(self.navigator.userAgent) && !/Chrom(e|ium)\//.test(self.navigator.userAgent);

const PATIENCE = 2000; // milliseconds that a notification waits for the server's clock

/**
 * A visible room needs no notification. One sent by both a page in the background and this worker rings once.
 */
async function showPush({ title, body, until, server_time: sent, room, lang, tag, paths }) {
  if (!ALWAYS && (await pages(paths)).some((page) => page.visibilityState === "visible")) return;
  const shown = await self.registration.getNotifications({ tag });
  const at = new Date(until + (await ahead(room, sent)));
  const time = at.toLocaleTimeString(lang, { timeStyle: "medium" });
  await self.registration.showNotification(title, {
    body: body.replace("{time}", time),
    lang,
    tag,
    renotify: !shown.some((before) => before.title === title),
    icon: new URL("icons/turn-192.png", STATIC).href,
    data: { paths },
  });
}

/**
 * Returns how far this device's clock is ahead of the server's, in milliseconds. A push may be delayed: when it
 * was sent shows no more than that the clock is behind. 0 where nothing shows it.
 */
async function ahead(room, sent) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), PATIENCE);
  try {
    const options = { cache: "no-store", credentials: "omit", signal: limit.signal };
    const answer = await fetch(`/api/${room}/lock/status`, options);
    const { server_time: now } = await answer.json();
    if (Number.isFinite(now)) return Date.now() - now;
  } catch {
    // the server cannot be reached, or not in time
  } finally {
    clearTimeout(timer);
  }
  return Math.min(Date.now() - sent, 0) || 0;
}

async function open(paths) {
  const [page] = await pages(paths);
  return page ? page.focus() : self.clients.openWindow(paths[0]);
}

/** Returns the open pages of the room, the one used last first. */
async function pages(paths) {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter(({ url }) => paths.includes(new URL(url).pathname));
}

/** The address has no version, so that a worker older than the server finds its icons. */
const STATIC = new URL("/static/", self.location);
