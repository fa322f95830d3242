#!/usr/bin/env python3
"""Joins a room, waits for the lock, and gives it back: seller.py [seller id]. Python 3.9 or newer, and nothing else.

The socket is read by hand here to need no package; with the package `websockets` it is connect(url, additional_headers=...) and a loop.
"""

import base64
import http.client
import json
import os
import sys
import urllib.parse
import urllib.request
import uuid

ROOM = f"{os.environ.get('WAITROOM', 'http://localhost:8080')}/api/{os.environ.get('ROOM', 'integration')}"
# One session a seller: any program that has it can act for the place. A call whose answer was lost can be repeated with it.
SESSION = {"X-Session-ID": str(uuid.uuid4())}


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ROOM + path, data, {**SESSION, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:  # an HTTPError has a Problem in its body, with a code
        return json.load(answer)


def frames(url):
    """Opens a WebSocket and yields its text frames; answers pings of the protocol."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port)
    connection.connect()
    wire = connection.sock
    key = base64.b64encode(os.urandom(16)).decode()
    headers = {**SESSION, "Host": parts.netloc, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    lines = [f"GET {parts.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    wire.sendall("\r\n".join([*lines, "", ""]).encode())
    stream = wire.makefile("rb")
    if b" 101 " not in stream.readline():
        raise ConnectionError("no socket here")
    while stream.readline().strip():
        pass

    def send(op, payload):
        mask = os.urandom(4)
        wire.sendall(bytes([0x80 | op, 0x80 | len(payload)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    while True:
        head = stream.read(2)
        if len(head) < 2 or head[0] & 15 == 8:
            raise ConnectionError("closed")
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
        payload = stream.read(size)
        if head[0] & 15 == 9:
            send(10, payload)
        elif head[0] & 15 == 1:
            frame = json.loads(payload)
            if frame["type"] == "ping":
                send(1, b'{"type":"pong"}')
            yield frame


def wait():
    """Reads states until it is our turn. A program that runs for long opens the socket again when it breaks, with a random wait."""
    for frame in frames(ROOM + "/ws"):
        if frame["type"] != "state":
            continue
        if frame["status"] == "locked":
            return frame
        if frame["status"] != "waiting":
            raise SystemExit(f"no lock: {frame}")
        print("waiting", frame["queue_position"], flush=True)


mine = ask("POST", "/lock", {"seller_id": sys.argv[1] if len(sys.argv) > 1 else "s-1"})  # join
if mine["status"] == "waiting":
    mine = wait()
if mine.get("claim_by"):
    ask("POST", "/lock/claim", {"fence": mine["fence"]})  # claim
print("locked", mine["fence"], flush=True)

# … the work that the lock protects; hand the fence on to it …

# done: with the fence, so that no other lease is ended by mistake
print(ask("DELETE", f"/lock?reason=completed&fence={mine['fence']}")["outcome"])
