import { backoff } from "./backoff.js";

const TRIES = 4;
const PATIENCE = 8000; // milliseconds for one try

/** What went wrong with an action, in words for people. */
export class Refused extends Error {
  /** problem is the server's whole answer; final: it is one, and asking again would get the same. */
  constructor(code, detail, problem = {}, final = false) {
    super(detail);
    Object.assign(this, { code, problem, final });
  }
}

/** Posts JSON; see call. */
export function post(url, body, page, headers = {}) {
  const all = { ...headers, "Content-Type": "application/json" };
  return call(url, { method: "POST", body: JSON.stringify(body), headers: all }, page);
}

/** Calls the server until it has answered, or throws Refused. A call has to be one that can be repeated without harm. session: who calls, where it is not the cookie alone. */
export async function call(url, options, page) {
  try {
    return await answered(url, options, page);
  } catch (error) {
    // The session is no good, or another seller's than the one who asks now: by the token that is known, and refused.
    if (error.code !== "invalid_session" || !page.session?.renew()) throw error;
    return answered(url, options, page);
  }
}

async function answered(url, options, { lang, words, session }) {
  const headers = { ...options.headers, Accept: "application/json", "Accept-Language": lang, ...(await session?.headers()) };
  for (let attempt = 0; ; attempt++) {
    const answer = await once(url, { ...options, headers, credentials: session?.credentials ?? "same-origin" });
    const last = attempt === TRIES - 1;
    if (answer?.ok) return answer.json();
    if (answer && !passing(answer.status)) throw await refusal(answer, words);
    if (last) throw answer ? await refusal(answer, words) : new Refused("unreachable", words.unreachable);
    await sleep(pause(answer, attempt));
  }
}

/** crypto.randomUUID is there in secure contexts only. */
export function freshKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function refusal(answer, words) {
  const problem = await answer.json().catch(() => ({}));
  return new Refused(problem.code ?? "", problem.detail || words.went_wrong, problem, !passing(answer.status));
}

/** One try; undefined where no answer came. */
function once(url, options) {
  return fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE) }).catch(() => undefined);
}

function passing(status) {
  return status === 429 || status >= 500;
}

function pause(answer, attempt) {
  const asked = Number(answer?.headers.get("Retry-After")) * 1000 || 0;
  return Math.min(asked, 5000) + backoff(attempt);
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
