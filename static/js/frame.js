const PROBE = "waitroom_probe";

/**
 * Whether this page's cookie goes with what it asks. In a frame on another site's page it does not: cookies of ours are
 * SameSite=Lax; nor where the browser keeps none. The same rules decide whether a script may set one there.
 */
export function hasCookies() {
  document.cookie = `${PROBE}=1; SameSite=Lax; Max-Age=10; Path=${location.pathname}`;
  return document.cookie.includes(`${PROBE}=1`);
}
