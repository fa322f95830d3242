import { Refused, freshKey } from "./http.js";

/**
 * Returns the session that acts. It is the browser's cookie or an id that this page keeps; a page of another
 * site needs the id, because our cookies do not come with its requests. kind: "cookie" or "own", else as it
 * fits base; token: the portal's, or a function that returns it: a token alone names the seller. known: the
 * id of the cookie's session, if the page came with it; fresh: the page came without a place. renewed is
 * called once the acting seller has changed.
 */
export function sessionOf({ base, kind, token, seller, room, known, fresh, renewed }) {
  if (token != null) return new ProvenSession(base, token, renewed);
  const own = kind ? kind === "own" : base !== location.origin;
  return own ? new OwnSession(base, renewed) : new CookieSession(seller, room, known, fresh);
}

/**
 * The cookie's session. The page also knows its id, which it came with or which an answer contains: where the
 * cookie vanishes or becomes another session's under the open page, the page goes on by its own.
 *
 * seller: the page's proven seller. By now another tab may have replaced the cookie, and another seller must
 * not act by a press here; so a proven seller's page uses the id only once the cookie proves no seller.
 */
class CookieSession {
  credentials = "include";
  #seller;
  #key; // where the tab keeps the id, so that a reload without the cookie finds the place
  #known; // the session that the page came by: another tab may have joined as it
  #id; // the session of the page's place
  #own = false; // whether the id is sent although the seller is proven by the cookie
  #doubted = false;

  constructor(seller, room, known, fresh) {
    this.#seller =
      seller &&
      [...new TextEncoder().encode(seller)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.#key = `session:${room}`;
    this.#known = known;
    // A page that came with a place came by the cookie. The tab's last session may be another one.
    this.#id = fresh ? this.#stored() : known;
    if (this.#id) this.#store(this.#id);
  }

  async headers() {
    return {
      ...(this.#seller && { "X-Page-Seller": this.#seller }),
      ...(this.#named && { "X-Session-ID": this.#id }),
    };
  }

  protocols() {
    const protocols = [
      ...(this.#seller ? [`waitroom.seller.${this.#seller}`] : []),
      ...(this.#named ? [`waitroom.session.${this.#id}`] : []),
    ];
    return protocols.length > 0 ? ["waitroom", ...protocols] : [];
  }

  /** Whether the id is yet to be asked for. */
  get unknown() {
    return !this.#id && !this.#known;
  }

  /** Takes an answer of the server, which names the session that has a place. */
  hear(answer) {
    const id = answer?.session_id ?? answer?.me?.session_id;
    if (!id) return;
    this.#id = id;
    this.#store(id);
  }

  learn() {
    return false; // a socket that does not know the session yet says idle, see doubts
  }

  /**
   * Takes that the server knows no place of a session that has one. Returns whether the cookie may be the
   * cause, so that the page has to ask again by its own session; once, until a place is known again.
   */
  doubts() {
    this.#id ??= this.#known;
    if (!this.#id || this.#doubted) return false;
    this.#own = this.#doubted = true;
    return true;
  }

  /** Takes that the server knows the session's place, or that there is none any more. */
  settle(known) {
    if (known) this.#doubted = false;
    else this.#store(null);
  }

  renew() {
    return false;
  }

  get #named() {
    return this.#id && (this.#own || !this.#seller);
  }

  #stored() {
    try {
      return sessionStorage.getItem(this.#key);
    } catch {
      return null;
    }
  }

  #store(id) {
    try {
      if (id) sessionStorage.setItem(this.#key, id);
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Private windows may refuse; a reload then needs the cookie.
    }
  }
}

/**
 * The id is a credential. It goes in headers alone, never in an address: a browser lets a socket have one
 * header, its protocols.
 */
class OwnSession {
  credentials = "omit";
  #key;
  #id;
  #ours; // whether it is a page of waitroom's own, whose history it may use
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

  /**
   * Takes the id by which the server knows this session; returns whether the socket has
   * to reconnect for its place.
   */
  learn(id) {
    if (!id || id === this.#id) return false;
    this.#id = id;
    this.#keep();
    return true;
  }

  /** Starts a new session; returns whether that was possible. */
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
 * The seller of the portal's token, which goes with every call and every socket. The id is this page's alone
 * and is not stored: the next page in this browser may be another seller's. The server refuses the two
 * together once the token is another seller's.
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

  /** Headers and protocols cannot carry the line break that a file or an echo leaves at the end. */
  async #fresh() {
    try {
      const token = typeof this.#token === "function" ? await this.#token() : this.#token;
      return token?.trim();
    } catch (error) {
      throw new Refused("token_failed", error?.message ?? String(error), {}, true);
    }
  }
}

/** Returns the session id in a page's data: 16 random bytes in hexadecimal, then the id's XORed with them. */
export function unmasked(data) {
  if (!data) return undefined;
  const bytes = data.match(/../g).map((pair) => parseInt(pair, 16));
  const id = bytes.slice(16).map((byte, at) => (byte ^ bytes[at]).toString(16).padStart(2, "0"));
  return [id.slice(0, 4), id.slice(4, 6), id.slice(6, 8), id.slice(8, 10), id.slice(10)]
    .map((part) => part.join(""))
    .join("-");
}

function keyOf(base) {
  return `waitroom:session:${base}`;
}

/** crypto.randomUUID exists in secure contexts only. */
function uuid() {
  const hex = freshKey().replaceAll("-", "");
  const variant = "89ab"[parseInt(hex[16], 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20),
  ].join("-");
}

/**
 * Returns a stored value. Where cookies are blocked, so is all storage; a state of the history entry still
 * survives a reload.
 */
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
    // If neither can be kept, the session lasts as long as the page.
    if (ours) history.replaceState({ ...history.state, [key]: id }, "");
  }
}
