const PROBE = "waitroom_probe";

/**
 * Returns whether the browser sends this page's cookie with its requests. It does not in a frame on another
 * site's page, because our cookies are SameSite=Lax, nor where it keeps none. The same rules decide whether a
 * script may set one there.
 */
export function hasCookies() {
  document.cookie = `${PROBE}=1; SameSite=Lax; Max-Age=10; Path=${location.pathname}`;
  return document.cookie.includes(`${PROBE}=1`);
}
