// A simulated SMS carrier: posts codes as Standard Webhooks, signed by HMAC.
import crypto from "k6/crypto";
import encoding from "k6/encoding";
import { call } from "./http.js";
import { settings } from "./settings.js";

const key = settings.smsSecret && encoding.b64decode(settings.smsSecret.replace(/^whsec_/, ""), "std");

/** canSend is false if no secret was given. */
export const canSend = Boolean(key);

/** sign returns the headers of a body, by the Standard Webhooks specification. */
function sign(id, timestamp, body) {
  return `v1,${crypto.hmac("sha256", key, `${id}.${timestamp}.${body}`, "base64")}`;
}

/**
 * send delivers a code to a room. It leaves sent_at out, so the message's time is when the server read it:
 * right for a carrier as near as this one, whatever this machine's clock shows.
 */
export function send(room, id, code) {
  const body = JSON.stringify({ message_id: id, from: "15881234", text: `[waitroom] 인증번호 ${code}` });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    "Content-Type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": sign(id, timestamp, body),
  };
  return call("sms", "POST", `/api/${room}/sms`, { body, headers });
}
