#!/usr/bin/env python3
"""Takes a turn, asks for a code, uses it and gives the turn back: robot.py [seller id]. Python 3.9 or newer, and nothing else.

It opens no socket: every call may be repeated, so a connection that breaks costs nothing but another call.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ROOM = f"{os.environ.get('WAITROOM', 'http://localhost:8080')}/api/{os.environ.get('ROOM', 'integration')}"
# One session a robot: whoever has it acts for the place, and so a call whose answer was lost can be repeated.
SESSION = {"X-Session-ID": str(uuid.uuid4())}


def ask(method, path, body=None, **headers):
    """Repeats a call until it is answered, and where the answer says Retry-After, such as 409 number_busy, when that has passed."""
    data = None if body is None else json.dumps(body).encode()
    headers = {**SESSION, "Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(ROOM + path, data, headers, method=method), timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:  # its body is a Problem, with a code
            if "Retry-After" not in refusal.headers:
                sys.exit(f"{refusal.code} {refusal.read().decode()}")
            time.sleep(int(refusal.headers["Retry-After"]))
        except (OSError, http.client.HTTPException):
            time.sleep(1)


# join, and wait for the turn
mine = ask("POST", "/lock", {"seller_id": sys.argv[1] if len(sys.argv) > 1 else "s-1", "asks": True})
while mine and mine["status"] == "waiting":
    print("waiting", mine["queue_position"], flush=True)
    time.sleep(1)
    mine = ask("GET", "/lock/status")["me"]
if not mine or mine["status"] != "locked":
    sys.exit(f"no turn: {mine}")
fence = mine["fence"]
print("locked", fence, flush=True)

# ask: right before the marketplace is asked. A busy number says number_busy until another seller's code can not come any more.
print("asked", ask("POST", "/lock/expect", {"fence": fence}, Idempotency_Key=str(uuid.uuid4()))["asked"], flush=True)

# … ask the marketplace to send the code …

# code: a turn that a message has ended is "ended" with its message, so the messages are looked at first
code, after = None, ""
while not code:
    got = ask("GET", f"/lock/messages?wait=30&after={urllib.parse.quote(after)}")
    for message in got["messages"]:
        code, after = message["code"] or code, message["message_id"]
    if not code and got["status"] == "ended" and "judging" not in got:  # where it is, the code is still checked
        sys.exit(f"no code: the turn is over ({(ask('GET', '/lock/status')['me'] or {}).get('outcome')})")
print("code", code, flush=True)

# … use the code …

# done: the message has ended the turn already, which is no error
print(ask("DELETE", f"/lock?reason=completed&fence={fence}")["outcome"])
