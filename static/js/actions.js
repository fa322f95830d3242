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

/** The calls a seller makes. The cookie says who; a repeated call has no second effect. */
export class Actions {
  constructor({ room, lang, words }) {
    this.lock = `/api/${encodeURIComponent(room)}/lock`;
    this.lang = lang;
    this.words = words;
  }

  join(seller) {
    return this.#post(this.lock, { seller_id: seller, asks: true });
  }

  /** I ask for a code now; or, with the id of a message, I had asked for that one. */
  expect(fence, key, message) {
    return this.#post(`${this.lock}/expect`, { fence, message_id: message }, { "Idempotency-Key": key });
  }

  /** That message is not mine. */
  reject(fence, message) {
    return this.#post(`${this.lock}/reject`, { fence, message_id: message });
  }

  leave(reason, fence) {
    const query = new URLSearchParams({ reason });
    if (fence != null) query.set("fence", String(fence));
    return this.#call(`${this.lock}?${query}`, { method: "DELETE" });
  }

  status() {
    return this.#call(`${this.lock}/status`, {});
  }

  #post(url, body, headers = {}) {
    const all = { ...headers, "Content-Type": "application/json" };
    return this.#call(url, { method: "POST", body: JSON.stringify(body), headers: all });
  }

  async #call(url, options) {
    const headers = { ...options.headers, Accept: "application/json", "Accept-Language": this.lang };
    for (let attempt = 0; ; attempt++) {
      const answer = await once(url, { ...options, headers });
      const last = attempt === TRIES - 1;
      if (answer?.ok) return answer.json();
      if (answer && !passing(answer.status)) throw await this.#refusal(answer);
      if (last) throw answer ? await this.#refusal(answer) : new Refused("unreachable", this.words.unreachable);
      await sleep(pause(answer, attempt));
    }
  }

  async #refusal(answer) {
    const problem = await answer.json().catch(() => ({}));
    return new Refused(problem.code ?? "", problem.detail || this.words.went_wrong, problem, !passing(answer.status));
  }
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
