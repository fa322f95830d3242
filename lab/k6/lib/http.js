// Requests that do not block the VU's sockets, and that are repeated where a balancer or a dying replica swallowed them.
import http from "k6/http";
import { retries } from "./metrics.js";
import { settings } from "./settings.js";
import { sleep } from "./wait.js";

const PATIENCE = 20000; // ms for which a call is repeated, unless it says otherwise; 0 = never
const TRANSIENT = new Set([0, 502, 503, 504]); // nobody answered, the balancer had nobody, or the store was away

/**
 * call asks once, and again while nobody answers. Every call of waitroom may be repeated, as long as it names its session.
 * name is what the request is called in the results; body is sent as JSON, unless it is text.
 */
export async function call(name, method, path, { body, headers = {}, jar, redirects, patience = PATIENCE } = {}) {
  const params = {
    headers: Object.assign(typeof body === "object" ? { "Content-Type": "application/json" } : {}, headers),
    jar: jar || new http.CookieJar(), // sessions go by header: a cookie kept from another would only confuse
    tags: { name },
    timeout: "10s",
  };
  if (redirects !== undefined) params.redirects = redirects;
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const end = Date.now() + patience;
  for (let tries = 1; ; tries++) {
    const answer = await http.asyncRequest(method, settings.base + path, text, params);
    if (!TRANSIENT.has(answer.status) || Date.now() >= end) return { status: answer.status, body: parse(answer.body), tries };
    retries.add(1);
    await sleep(50 + Math.random() * Math.min(100 * tries, 1000));
  }
}

/** parse reads JSON; of anything else it is null. */
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
