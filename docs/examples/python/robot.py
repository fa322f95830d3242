#!/usr/bin/env python3
"""Takes a turn, asks for a code, uses it and gives the turn back: robot.py [seller id]. Python 3.9 or newer.

It needs waitroom.py, the client of this repository, beside it or on the path.
"""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "clients" / "python"))
import waitroom  # noqa: E402


def press_send_code():
    """Has the marketplace send the code. It is called once the number is free for that."""
    print("asked", flush=True)


server, room = os.environ.get("WAITROOM", "http://localhost:8080"), os.environ.get("ROOM", "integration")
turn = waitroom.join(server, room, sys.argv[1] if len(sys.argv) > 1 else "s-1")
try:
    for state in turn.states():
        if state["status"] == "waiting":
            print("waiting", state["queue_position"], flush=True)
        else:
            print(state["status"], state.get("fence"), flush=True)
    code = turn.code(ask=press_send_code)  # turn.code("15881234", …) names its sender
except waitroom.Ended as ended:
    sys.exit(f"no code: the turn is over ({ended.outcome})")
print("code", code.code, flush=True)  # … enter it at the marketplace …
turn.done()
print("completed")
