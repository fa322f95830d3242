#!/usr/bin/env python3
"""Receives webhooks at PORT, signed with WAITROOM_WEBHOOK_SECRET. Python 3.9 or newer, and nothing else."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WAITROOM_WEBHOOK_SECRET"].removeprefix("whsec_"))


def verify(headers, body):
    """Reports whether waitroom signed the body within the last five minutes. There may be several signatures."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    want = "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(one.encode(), want.encode()) for one in headers.get("webhook-signature", "").split())


class Receiver(BaseHTTPRequestHandler):
    @staticmethod
    def handle_event(event, webhook_id):
        """Handles an event. Delivery is at least once: keep the id, and ignore an event whose id came before."""
        print(webhook_id, event["type"], flush=True)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not verify(self.headers, body):
            self.send_error(401, "bad signature")
            return
        try:
            self.handle_event(json.loads(body), self.headers["webhook-id"])
        except OSError as error:
            self.send_error(503, str(error))  # waitroom sends the event again
            return
        self.send_response(204)
        self.end_headers()


def serve(receiver):
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), receiver)
    print("listening", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(Receiver)

