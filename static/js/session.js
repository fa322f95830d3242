import { freshKey } from "./http.js";

/**
 * Who acts: whom the browser's cookie says, or an id that this page keeps, which a page of another site needs, because no cookie of
 * ours comes with what it asks. kind: "cookie" or "own", else as it fits base; token: the portal's, or a function that gives it.
 */
export function sessionOf({ base, kind, token, seller }) {
  const own = kind ? kind === "own" : token != null || base !== location.origin;
  return own ? new OwnSession(base, token) : new CookieSession(seller);
}

/** seller: whom the page was made for, where that is proven. The cookie may be another one's by now, by another tab, and what is pressed here is not for that one to do. */
class CookieSession {
  credentials = "include";
  #seller;

  constructor(seller) {
    this.#seller = seller && [...new TextEncoder().encode(seller)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  async headers() {
    return this.#seller ? { "X-Page-Seller": this.#seller } : {};
  }

  protocols() {
    return this.#seller ? ["waitroom", `waitroom.seller.${this.#seller}`] : [];
  }

  learn() {
    return false;
  }

  renew() {
    return false;
  }
}

/** The id is a credential. It goes in headers alone, never in an address: a browser lets a socket have one header, its protocols. */
class OwnSession {
  credentials = "omit";
  #key;
  #id;
  #token;

  constructor(base, token) {
    this.#key = `waitroom:session:${base}`;
    this.#token = token;
    this.#id = kept(this.#key) ?? uuid();
    keep(this.#key, this.#id);
  }

  async headers() {
    const headers = { "X-Session-ID": this.#id };
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    if (token) headers.Authorization = `Bearer ${token}`;
    return headers;
  }

  protocols() {
    return ["waitroom", `waitroom.session.${this.#id}`];
  }

  /** Takes the id that the server knows this session by; says whether a socket has to be opened anew to be told of its place. */
  learn(id) {
    const proven = this.#token != null; // only now does the server know whose session this is
    if (id && id !== this.#id) keep(this.#key, (this.#id = id));
    else if (!proven) return false;
    return true;
  }

  /** Is somebody new from now on. */
  renew() {
    keep(this.#key, (this.#id = uuid()));
    return true;
  }
}

/** crypto.randomUUID is there in secure contexts only. */
function uuid() {
  const hex = freshKey().replaceAll("-", "");
  const variant = "89ab"[parseInt(hex[16], 16) % 4];
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join("-");
}

function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key, id) {
  try {
    localStorage.setItem(key, id);
  } catch {
    // Where nothing may be kept, the session is as long as the page.
  }
}
