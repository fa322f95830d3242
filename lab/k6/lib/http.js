// Requests that do not block the VU's sockets, repeated where a balancer or a dying replica swallowed them.
import http from "k6/http";
import { retries } from "./metrics.js";
import { settings } from "./settings.js";
import { sleep } from "./wait.js";

const PATIENCE = 20000; // ms for which a call is repeated by default; 0 = never
const TRANSIENT = new Set([0, 502, 503, 504]); // no answer, no replica behind the balancer, or no store

/**
 * call asks once, and again while no answer comes. Every call of waitroom may be repeated, as long as it
 * names its session. name is the request's name in the results; body is sent as JSON, unless it is text.
 */
export async function call(
  name,
  method,
  path,
  { body, headers = {}, jar, redirects, patience = PATIENCE } = {},
) {
  const params = {
    headers: Object.assign(typeof body === "object" ? { "Content-Type": "application/json" } : {}, headers),
    // sessions go by header: another session's cookie would confuse the server
    jar: jar || new http.CookieJar(),
    tags: { name },
    timeout: "10s",
  };
  if (redirects !== undefined) params.redirects = redirects;
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const end = Date.now() + patience;
  for (let tries = 1; ; tries++) {
    const answer = await http.asyncRequest(method, settings.base + path, text, params);
    if (!TRANSIENT.has(answer.status) || Date.now() >= end)
      return { status: answer.status, body: parse(answer.body), tries };
    retries.add(1);
    await sleep(50 + Math.random() * Math.min(100 * tries, 1000));
  }
}

/** parse reads JSON; it returns null for anything else. */
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
