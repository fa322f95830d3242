import { freshKey } from "./http.js";

/**
 * Who acts: whom the browser's cookie says, or an id that this page keeps, which a page of another site needs, because no cookie of
 * ours comes with what it asks. kind: "cookie" or "own", else as it fits base; token: the portal's, or a function that gives it: where
 * there is one, it alone says who acts. renewed: is called once who acted until now acts no more.
 */
export function sessionOf({ base, kind, token, seller, renewed }) {
  if (token != null) return new ProvenSession(base, token, renewed);
  const own = kind ? kind === "own" : base !== location.origin;
  return own ? new OwnSession(base, renewed) : new CookieSession(seller);
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
  #ours; // whether it is a page of our own, whose history is ours too
  #renewed;

  constructor(base, renewed) {
    this.#key = keyOf(base);
    this.#ours = base === location.origin;
    this.#renewed = renewed;
    this.#id = kept(this.#key, this.#ours) ?? uuid();
    this.#keep();
  }

  async headers() {
    return { "X-Session-ID": this.#id };
  }

  protocols() {
    return ["waitroom", `waitroom.session.${this.#id}`];
  }

  /** Takes the id that the server knows this session by; says whether a socket has to be opened anew to be told of its place. */
  learn(id) {
    if (!id || id === this.#id) return false;
    this.#id = id;
    this.#keep();
    return true;
  }

  /** Is somebody new from now on; says whether that could be. */
  renew() {
    this.#id = uuid();
    this.#keep();
    this.#renewed();
    return true;
  }

  #keep() {
    keep(this.#key, this.#id, this.#ours);
  }
}

/**
 * The seller of the portal's token, which goes with every call and every socket. The id is this page's alone and is kept nowhere: the
 * next page in this browser may be another seller's. The server refuses the two together once the token is another seller's.
 */
class ProvenSession {
  credentials = "omit";
  #id = uuid();
  #token;
  #renewed;
  #unproven = false; // the last socket was opened before there was a token

  constructor(base, token, renewed) {
    this.#token = token;
    this.#renewed = renewed;
    keep(keyOf(base), null); // an earlier version's
  }

  async headers() {
    const headers = { "X-Session-ID": this.#id };
    const token = await this.#fresh();
    if (token) headers.Authorization = `Bearer ${token}`;
    return headers;
  }

  async protocols() {
    const token = await this.#fresh();
    this.#unproven = !token;
    return ["waitroom", `waitroom.session.${this.#id}`, ...(token ? [`waitroom.token.${token}`] : [])];
  }

  learn() {
    return this.#unproven;
  }

  renew() {
    this.#id = uuid();
    this.#renewed();
    return true;
  }

  async #fresh() {
    return typeof this.#token === "function" ? this.#token() : this.#token;
  }
}

function keyOf(base) {
  return `waitroom:session:${base}`;
}

/** crypto.randomUUID is there in secure contexts only. */
function uuid() {
  const hex = freshKey().replaceAll("-", "");
  const variant = "89ab"[parseInt(hex[16], 16) % 4];
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join("-");
}

/** Where cookies are blocked, so is all storage. What the browser keeps beside an entry of its history is there after a reload all the same. */
function kept(key, ours) {
  try {
    return localStorage.getItem(key);
  } catch {
    return (ours && history.state?.[key]) || null;
  }
}

function keep(key, id, ours) {
  try {
    if (id) localStorage.setItem(key, id);
    else localStorage.removeItem(key);
  } catch {
    // Where nothing may be kept either way, the session is as long as the page.
    if (ours) history.replaceState({ ...history.state, [key]: id }, "");
  }
}
