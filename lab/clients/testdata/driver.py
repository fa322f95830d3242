"""Runs one turn by the Python client: commands come as lines of JSON, and each is answered by one."""

import json
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, sys.argv[1])
import waitroom  # noqa: E402

turn = last = place = None
going = {}  # command → what its ask waits for
writing = threading.Lock()


def answer(line):
    with writing:
        print(json.dumps(line), flush=True)


def join(url, room, seller, keep=None, patience=None, **_):
    global turn, place
    place = url, room
    turn = waitroom.join(url, room, seller, keep=keep, patience=patience and patience / 1000)
    return {"session": turn.session}


def proven(url, room, portal, **_):
    global turn

    def token():
        try:
            with urllib.request.urlopen(portal) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError:
            raise RuntimeError("the portal is closed") from None

    turn = waitroom.join(url, room, "", token=token)
    return {"session": turn.session}


def resume(url, room, session, **_):
    global turn
    turn = waitroom.resume(url, room, session)
    return {"session": turn.session}


def hurry(patience, **_):
    global turn
    turn = waitroom.Turn(*place, turn.session, patience=patience / 1000)


def wait(**_):
    positions = []
    for state in turn.states():
        positions.append(state.get("queue_position") or 0)
    turn.wait()
    return {"positions": positions}


def code(id, **command):
    global last
    going[id] = threading.Event()

    def ask():
        answer({"id": id, "asks": True})
        going[id].wait()

    last = turn.code(command["from"], ask=ask, late=command["late"] / 1000)
    return {"code": last.code, "late": last.late}


commands = {"join": join, "proven": proven, "resume": resume, "wait": wait, "code": code,
            "reject": lambda **_: turn.reject(last), "done": lambda **_: turn.done(),
            "leave": lambda **_: turn.leave(), "hurry": hurry}


def run(command):
    try:
        answer({"id": command["id"], **(commands[command["do"]](**command) or {})})
    except waitroom.Ended as ended:
        answer({"id": command["id"], "error": ended.outcome})
    except waitroom.Refused as refused:
        named = refused.code in str(refused)  # also where a program logs only the text
        answer({"id": command["id"], "error": refused.code if named else str(refused)})
    except Exception as error:
        answer({"id": command["id"], "error": repr(error)})


for line in sys.stdin:
    command = json.loads(line)
    if command["do"] == "go":
        going[command["id"]].set()
    else:
        threading.Thread(target=run, args=(command,), daemon=True).start()
