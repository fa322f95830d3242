import { call, post } from "./http.js";

/** The calls a seller makes. The session says who, see session.js; a repeated call has no second effect. */
export class Actions {
  constructor({ room, base = "", ...page }) {
    this.lock = `${base}/api/${encodeURIComponent(room)}/lock`;
    this.page = page;
  }

  join(seller, asks = true) {
    return post(this.lock, { seller_id: seller, asks }, this.page);
  }

  /** I ask for a code now; or, with a message_id, I had asked for that one. */
  expect(fence, key, what) {
    return post(`${this.lock}/expect`, { ...what, fence }, this.page, { "Idempotency-Key": key });
  }

  /** That message is not mine. */
  reject(fence, message) {
    return post(`${this.lock}/reject`, { fence, message_id: message }, this.page);
  }

  /** I am here: with the fence of my turn, or with null where my turn went by. */
  claim(fence) {
    return post(`${this.lock}/claim`, fence == null ? {} : { fence }, this.page);
  }

  /** A link by which another device continues with this place, and its QR code. */
  link() {
    return call(`${this.lock}/link?qr=true`, { method: "POST" }, this.page);
  }

  /** Tell this browser of my place, also when no page is open. */
  push({ endpoint, keys }, language) {
    return post(`${this.lock}/push`, { endpoint, keys, language }, this.page);
  }

  /** signal gives up asking. */
  leave(reason, fence, signal) {
    const query = new URLSearchParams({ reason });
    if (fence != null) query.set("fence", String(fence));
    return call(`${this.lock}?${query}`, { method: "DELETE", signal }, this.page);
  }

  status() {
    return call(`${this.lock}/status`, {}, this.page);
  }

  /** How things are, once, by a page without a socket: whose place it is counts as there for a while. */
  poll() {
    return call(`${this.lock}/status?here=true`, { once: true }, this.page);
  }

  /** The messages of my last place. */
  messages() {
    return call(`${this.lock}/messages`, { once: true }, this.page);
  }
}
