import { call, post } from "./http.js";

/** The calls a seller makes. The cookie says who; a repeated call has no second effect. */
export class Actions {
  constructor({ room, lang, words }) {
    this.lock = `/api/${encodeURIComponent(room)}/lock`;
    this.page = { lang, words };
  }

  join(seller) {
    return post(this.lock, { seller_id: seller, asks: true }, this.page);
  }

  /** I ask for a code now; or, with the id of a message, I had asked for that one. */
  expect(fence, key, message) {
    return post(`${this.lock}/expect`, { fence, message_id: message }, this.page, { "Idempotency-Key": key });
  }

  /** That message is not mine. */
  reject(fence, message) {
    return post(`${this.lock}/reject`, { fence, message_id: message }, this.page);
  }

  /** A link by which another device continues with this place, and its QR code. */
  link() {
    return call(`${this.lock}/link?qr=true`, { method: "POST" }, this.page);
  }

  leave(reason, fence) {
    const query = new URLSearchParams({ reason });
    if (fence != null) query.set("fence", String(fence));
    return call(`${this.lock}?${query}`, { method: "DELETE" }, this.page);
  }

  status() {
    return call(`${this.lock}/status`, {}, this.page);
  }
}
