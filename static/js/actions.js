import { backoff } from "./backoff.js";

const TRIES = 4;
const PATIENCE = 8000; // milliseconds for one try

/** What went wrong with an action, in words for people. */
export class Refused extends Error {
  constructor(code, detail) {
    super(detail);
    this.code = code;
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
    const body = JSON.stringify({ seller_id: seller });
    return this.#call(this.lock, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  }

  leave(reason, fence) {
    const query = new URLSearchParams({ reason });
    if (fence != null) query.set("fence", String(fence));
    return this.#call(`${this.lock}?${query}`, { method: "DELETE" });
  }

  status() {
    return this.#call(`${this.lock}/status`, {});
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
    return new Refused(problem.code ?? "", problem.detail || this.words.went_wrong);
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
