import { backoff } from "./backoff.js";

const TRIES = 4;
const PATIENCE = 10000; // milliseconds for one try

/** The failure of an action, in words for people. */
export class Refused extends Error {
  /** problem is the server's whole answer; final: the same call would get the same refusal. */
  constructor(code, detail, problem = {}, final = false) {
    super(detail);
    Object.assign(this, { name: "Refused", code, problem, final });
  }
}

/** Returns whether a repeat may be answered otherwise. */
export function passing(error) {
  return error instanceof Refused && !error.final;
}

/** Returns a person's words for anything thrown. */
export function wordsOf(error, words) {
  return error instanceof Refused ? error.message : words.went_wrong;
}

/** Posts JSON; see call. */
export function post(url, body, page, headers = {}) {
  const all = { ...headers, "Content-Type": "application/json" };
  return call(url, { method: "POST", body: JSON.stringify(body), headers: all }, page);
}

/**
 * Calls the server until it answers, or throws Refused. The call has to be safe to repeat. session: the
 * caller, where the cookie alone does not name it; signal aborts as unreachable; once: a call without an
 * answer is not repeated.
 */
export async function call(url, options, page) {
  try {
    return await answered(url, options, page);
  } catch (error) {
    if (!another(error.code, page.session)) throw error;
    return answered(url, options, page);
  }
}

/** Returns whether the session has another name by which to repeat a refused call. */
function another(code, session) {
  // The session is invalid, or the known and refused token belongs to another seller now.
  if (code === "invalid_session") return session?.renew();
  return code === "not_identified" && session?.doubts?.(); // the cookie is gone
}

async function answered(url, { once: single, ...options }, { lang, words, session }) {
  const headers = {
    ...options.headers,
    Accept: "application/json",
    "Accept-Language": lang,
    ...(await session?.headers()),
  };
  for (let attempt = 0; ; attempt++) {
    const answer = await attemptOf(url, {
      ...options,
      headers,
      credentials: session?.credentials ?? "same-origin",
    });
    const last = single || attempt === TRIES - 1;
    if (answer?.ok) {
      session?.hear?.(answer.body);
      return answer.body;
    }
    if (answer && !passes(answer.status)) throw refusal(answer, words);
    if (last || options.signal?.aborted)
      throw answer ? refusal(answer, words) : new Refused("unreachable", words.unreachable);
    await sleep(pause(answer, attempt), options.signal);
  }
}

/** crypto.randomUUID exists in secure contexts only. */
export function freshKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

function refusal({ status, body }, words) {
  return new Refused(body.code ?? "", body.detail || words.went_wrong, body, !passes(status));
}

/** Makes one try; returns undefined if no whole answer came. iOS 15 has no AbortSignal.timeout. */
async function attemptOf(url, options) {
  if (options.signal?.aborted) return undefined;
  const abort = new AbortController();
  const patience = setTimeout(() => abort.abort(), PATIENCE);
  options.signal?.addEventListener("abort", () => abort.abort(), { signal: abort.signal });
  try {
    const answer = await fetch(url, { ...options, signal: abort.signal });
    const { ok, status, headers } = answer;
    const text = await answer.text();
    return { ok, status, headers, body: ok ? JSON.parse(text) : objectIn(text) };
  } catch {
    return undefined;
  } finally {
    clearTimeout(patience);
  }
}

function objectIn(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {}; // an HTML page from a proxy
  }
}

function passes(status) {
  return status === 429 || status >= 500;
}

function pause(answer, attempt) {
  const asked = Number(answer?.headers.get("Retry-After")) * 1000 || 0;
  return Math.min(asked, 5000) + backoff(attempt);
}

/** Resolves after this time, or at the signal. */
function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", resolve);
  });
}
