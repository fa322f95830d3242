/** The service worker of the seller's page: it shows what waitroom pushes while no page of the room is on show, and leads back there. */

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => event.waitUntil(tell(event.data.json())));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.paths));
});

/** WebKit ends the subscription where a push shows nothing, also when the room is on show. */
const ALWAYS = /AppleWebKit/.test(self.navigator.userAgent) && !/Chrom(e|ium)\//.test(self.navigator.userAgent);

/** A room on show needs no notification. Sent twice, by a page in the background and by this, it rings once. */
async function tell({ title, body, until, lang, tag, paths }) {
  if (!ALWAYS && (await pages(paths)).some((page) => page.visibilityState === "visible")) return;
  const shown = await self.registration.getNotifications({ tag });
  const time = new Date(until).toLocaleTimeString(lang, { timeStyle: "medium" });
  await self.registration.showNotification(title, {
    body: body.replace("{time}", time),
    lang,
    tag,
    renotify: !shown.some((before) => before.title === title),
    icon: new URL("icons/turn-192.png", STATIC).href,
    data: { paths },
  });
}

async function open(paths) {
  const [page] = await pages(paths);
  return page ? page.focus() : self.clients.openWindow(paths[0]);
}

/** The open pages of the room, the one used last first. */
async function pages(paths) {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter(({ url }) => paths.includes(new URL(url).pathname));
}

/** Without a version, so that a worker that is older than the server finds what it shows. */
const STATIC = new URL("/static/", self.location);
