#!/usr/bin/env python3
"""Takes webhooks at PORT, signed with WAITROOM_WEBHOOK_SECRET. Python 3.9 or newer, and nothing else."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WAITROOM_WEBHOOK_SECRET"].removeprefix("whsec_"))


def verify(headers, body):
    """Says whether the body is what waitroom signed, within the last five minutes. The header may have several signatures."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    want = "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(one.encode(), want.encode()) for one in headers.get("webhook-signature", "").split())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not verify(self.headers, body):
            self.send_error(401, "bad signature")
            return
        event = json.loads(body)
        # Delivery is at least once: keep webhook-id, and do nothing for one that was there before.
        print(self.headers["webhook-id"], event["type"], flush=True)
        self.send_response(204)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print("listening", server.server_port, flush=True)
server.serve_forever()
