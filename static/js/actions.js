import { call, post } from "./http.js";

/**
 * The calls that a seller's page makes. The session names the seller, see session.js; a repeated
 * call has no second effect.
 */
export class Actions {
  constructor({ room, base = "", ...page }) {
    this.lock = `${base}/api/${encodeURIComponent(room)}/lock`;
    this.page = page;
  }

  join(seller, asks = true) {
    return post(this.lock, { seller_id: seller, asks }, this.page);
  }

  /** Records an ask for a code; with a message_id, an earlier ask that brought this message. */
  expect(fence, key, what) {
    return post(`${this.lock}/expect`, { ...what, fence }, this.page, { "Idempotency-Key": key });
  }

  /** Reports that a message belongs to another seller. */
  reject(fence, message) {
    return post(`${this.lock}/reject`, { fence, message_id: message }, this.page);
  }

  /** Claims the turn with its fence; null returns to the line after a missed turn. */
  claim(fence) {
    return post(`${this.lock}/claim`, fence == null ? {} : { fence }, this.page);
  }

  /** Returns a link, with its QR code, by which another device continues with this place. */
  link() {
    return call(`${this.lock}/link?qr=true`, { method: "POST" }, this.page);
  }

  /** Subscribes this browser to pushes about the place, also when no page is open. */
  push({ endpoint, keys }, language) {
    return post(`${this.lock}/push`, { endpoint, keys, language }, this.page);
  }

  /** Chooses whether the portal sends a message when the turn is near. */
  reach(wants) {
    return post(`${this.lock}/reach`, { wants }, this.page);
  }

  /** Leaves the line or ends the turn; signal aborts the call. */
  leave(reason, fence, signal) {
    const query = new URLSearchParams({ reason });
    if (fence != null) query.set("fence", String(fence));
    return call(`${this.lock}?${query}`, { method: "DELETE", signal }, this.page);
  }

  status() {
    return call(`${this.lock}/status`, {}, this.page);
  }

  /** Returns the room's status, for a page without a socket: it also counts as presence for a while. */
  poll() {
    return call(`${this.lock}/status?here=true`, { once: true }, this.page);
  }

  /** Returns the messages of the last place. */
  messages() {
    return call(`${this.lock}/messages`, { once: true }, this.page);
  }
}
