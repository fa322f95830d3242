// Takes webhooks at PORT, signed with WAITROOM_WEBHOOK_SECRET: node receiver.ts. Node 22.18 or newer, and nothing else.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo } from "node:net";

const key = Buffer.from((process.env.WAITROOM_WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");

// verify says whether the body is what waitroom signed, within the last five minutes. The header may have several signatures.
function verify(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, time, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name] ?? ""));
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const want = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  return given.split(" ").some((one) => {
    const [version, signature] = one.split(",");
    const got = Buffer.from(signature ?? "", "base64");
    return version === "v1" && got.length === want.length && timingSafeEqual(got, want);
  });
}

const server = createServer(async (request, answer) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  if (!verify(request.headers, body)) {
    answer.writeHead(401).end("bad signature");
    return;
  }
  const event: { type: string; data: object } = JSON.parse(body.toString());
  // Delivery is at least once: keep webhook-id, and do nothing for one that was there before.
  console.log(request.headers["webhook-id"], event.type);
  answer.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => console.log("listening", (server.address() as AddressInfo).port));
