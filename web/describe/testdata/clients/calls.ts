// Has the client that openapi-typescript and openapi-fetch make one call of every kind. scripts/check.sh runs it.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { env: Record<string, string> };
const { WAITROOM, SUPPORT_TOKEN, WAITROOM_SMS_WEBHOOK_SECRET } = process.env;
const path = { room: "room:typescript" };

function want(right: boolean, answer: unknown): asserts right {
  if (!right) throw new Error(`another answer than wanted: ${JSON.stringify(answer)}`);
}

const client = (headers: Record<string, string>) => createClient<paths>({ baseUrl: WAITROOM, headers });
const holder = client({ "X-Session-ID": crypto.randomUUID() });
const waiter = client({ "X-Session-ID": crypto.randomUUID() });
const support = client({ Authorization: `Bearer ${SUPPORT_TOKEN}` });

const carrier = client({});
carrier.use({
  async onRequest({ request }) {
    const base64 = WAITROOM_SMS_WEBHOOK_SECRET.replace("whsec_", "");
    const secret = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const { headers } = request;
    const text = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${await request.clone().text()}`;
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
    headers.set("webhook-signature", `v1,${btoa(String.fromCharCode(...mac))}`);
    return request;
  },
});

const lock = "/api/{room}/lock";
const joined = await holder.POST(lock, { params: { path }, body: { seller_id: "s-1" } });
want(joined.data?.status === "locked", joined);
const { fence } = joined.data;
const waits = await waiter.POST(lock, { params: { path }, body: { seller_id: "s-2" } });
want(waits.data?.status === "waiting" && waits.data.queue_position === 1, waits);
const status = await waiter.GET("/api/{room}/lock/status", { params: { path, query: { here: true } } });
want(status.data?.me?.status === "waiting", status);

const asked = await holder.POST("/api/{room}/lock/expect", {
  params: { path, header: { "Idempotency-Key": "key-1" } },
  body: { fence, contains: "인증" },
});
want(asked.data?.open === 1, asked);
const timestamp = String(Math.floor(Date.now() / 1000));
const sms = await carrier.POST("/api/{room}/sms", {
  params: { path, header: { "webhook-id": "1", "webhook-timestamp": timestamp, "webhook-signature": "" } },
  body: { message_id: 1, from: 15881234, text: "인증번호 482913" },
});
want(sms.data?.result === "matched", sms);
const messages = await holder.GET("/api/{room}/lock/messages", { params: { path, query: { wait: 5 } } });
want(messages.data?.messages[0].code === "482913", messages);
const left = await holder.DELETE(lock, { params: { path, query: { reason: "completed", fence } } });
want(left.data?.status === "released", left);
const refused = await holder.DELETE(lock, { params: { path } });
want(refused.error?.code === "no_place", refused);

const paused = await support.POST("/api/support/{room}/pause", { params: { path }, body: { reason: "a try" } });
want(paused.data?.ticket === null, paused);
const history = await support.GET("/api/support/{room}/history", { params: { path, query: { limit: 10 } } });
want(typeof history.data === "object" && history.data.next === null, history);
const metrics = await holder.GET("/metrics", { parseAs: "text" });
want(metrics.data?.includes("waitroom_") === true, metrics);
