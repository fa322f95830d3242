"""Takes a seller's turn in a waiting room: join, wait, ask for the code, give the lock back.

    turn = waitroom.join("https://waitroom.example", "integration", "s-1")
    turn.wait()
    code = turn.code(sender="15881234", ask=press_send_code)
    enter(code.code)
    turn.done()

One file, Python 3.9 and later, nothing but the standard library. Every call is repeated until the server
answers, with a growing pause: a repeat changes nothing, since the session names the place and each ask has a
key of its own. The session is a secret that acts for the place. A program that is killed goes on with its
place when it is started again: see keep of join.
"""

import dataclasses
import hashlib
import http.client
import json
import math
import os
import random
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

_CALL = 60  # seconds: longer than the longest wait for a message
_LEAST = 1  # seconds that a call may take, however little is left of patience
_WAIT = 25  # seconds that the server lets a call wait for a message
_POLL = 1  # seconds
_FIRST, _MOST = 0.25, 20  # seconds before a call is repeated
_AFTER = 60  # seconds of a Retry-After, at most
_BUSY = 2  # the same while the number is busy: the code that it waits for may come
_NOT_YET = "the turn has not come yet: wait first"
_ANSWER = 1 << 20  # bytes of an answer, at most


class Refused(Exception):
    """A refusal by the server. code is stable, such as "seller_has_place"."""

    def __init__(self, status, code, detail="", reason=""):
        super().__init__(": ".join(filter(None, (f"waitroom answered {status} {code}", reason, detail))))
        self.status, self.code, self.reason = status, code, reason  # why a token was refused, for a developer


class Ended(Exception):
    """The place has ended; outcome is how, such as "expired"."""

    def __init__(self, outcome):
        super().__init__(f"the turn is over: {outcome}")
        self.outcome = outcome


@dataclasses.dataclass(frozen=True)
class Code:
    """A message with a code that was matched to the turn."""

    code: str = dataclasses.field(repr=False)  # a secret
    text: str = dataclasses.field(repr=False)
    message_id: str
    received_at: str
    late: bool  # the turn was over when it came
    fence: int


def join(server, room, seller, *, session=None, keep=None, may_wait=True, token=None, headers=None, patience=None):
    """Gives a seller the lock of a room, or a place in its line, and returns the Turn.

    keep: a directory, or an object with load(place), which returns a session or None, and save(place, session),
    where "" removes it. It has the session, a secret, from before the join on. The same join of a program that was
    killed then goes on with the place: in the line, in its turn, or with the code that has completed the turn.
    done and leave remove the session, and so does a code that raises Ended. One program at a time may join for a
    seller and a room: two would share the place and its codes. seller is needed, also beside a token.
    may_wait=False raises "lock_held" or "room_paused" instead of waiting. headers are sent with every call;
    without an Accept-Language there, refusals are in English.
    token: the seller's, or a function that returns it, if the server runs with SELLER_AUTH=jwt. The function is
    called for each try of the join. No later call sends a token: the session alone proves the seller then, so
    the token may expire while its seller waits.
    patience: a call without an answer for this many seconds raises TimeoutError, one that waits for a code
    after up to twice as many; None retries for ever. A 5xx or a 429 is no answer.
    """
    turn = Turn(server, room, session or str(uuid.uuid4()), headers, patience)
    if keep and turn._keep(_Directory(keep) if isinstance(keep, (str, os.PathLike)) else keep, server, room, seller):
        return turn
    path = "/lock?here=true" if may_wait else "/lock?wait=false"  # passed over if the program dies before it waits
    turn._observe(turn._call("POST", path, {"seller_id": seller, "asks": True}, token=token))
    return turn


def resume(server, room, session, *, headers=None, patience=None):
    """Returns the Turn of a session that joined before; raises Refused "no_place" if it has no place."""
    turn = Turn(server, room, session, headers, patience)
    turn.look()
    return turn


class Turn:
    """A seller's place in a room."""

    def __init__(self, server, room, session, headers=None, patience=None):
        if not server.startswith(("http://", "https://")):
            raise ValueError("waitroom's URL: want one such as https://waitroom.example")
        self._base = server.rstrip("/") + "/api/" + urllib.parse.quote(room, safe="")
        self._headers = {"Accept-Language": "en", **(headers or {})}
        self._patience = math.inf if patience is None else patience
        self._wait = int(max(1, min(_WAIT, self._patience)))  # seconds that the server lets a call wait
        self._fence = None  # of the last lease
        self._taken = set()  # messages whose codes were returned
        self._taking = threading.Lock()
        self._save = lambda session: None  # keeps the session
        self.session = session
        self.state = {"status": "waiting"}

    def states(self):
        """Yields the state about each second, until the seller holds the lock or the place has ended."""
        while True:
            state = self.look()
            if state.get("claim_by") or state.get("unclaimed"):
                state = self._claim(state)
            yield state
            if state["status"] != "waiting":
                return
            time.sleep(_POLL)

    def wait(self):
        """Returns once the seller holds the lock; raises Ended if the place ends before.

        If the turn came and was completed already, it returns, too: code() returns the code that completed it.
        """
        for state in self.states():
            pass
        if state["status"] == "ended" and state["outcome"] != "completed":
            raise Ended(state["outcome"])

    def code(self, sender=None, *, contains=None, ask=None, late=0):
        """Asks for a code and returns it as a Code.

        sender: one, or a list of at most ten. ask makes the marketplace send the code; it is called once the
        number is free. late: for how many seconds to wait for a code after the turn's end. After the end it
        asks for no code, and returns one that it has not returned yet.
        """
        before = self._messages()
        if before["status"] == "waiting":
            raise RuntimeError(_NOT_YET)
        body = {"fence": before["fence"]}
        if sender:
            body["from"] = [sender] if isinstance(sender, str) else list(sender)
        if contains:
            body["contains"] = contains
        if before["status"] == "ended" or not self._expect(body):
            return self._await([], late)
        if ask:
            ask()
        return self._await([message["message_id"] for message in before["messages"]], late)

    def reject(self, code):
        """Reports that a code is not the seller's. If it ended the turn, code(late=60) waits for the next."""
        try:
            self._call("POST", "/lock/reject", {"fence": code.fence, "message_id": code.message_id})
        except Refused as refused:
            if refused.code != "no_message":  # as where the answer to an earlier try was lost
                raise

    def done(self):
        """Gives the lock back after the seller has used the code. A message may have ended the turn."""
        if self._fence is None and self._known().get("status") == "waiting":
            raise RuntimeError(_NOT_YET)
        self._leave("completed", self._fence)

    def leave(self):
        """Gives the place up, waiting or not."""
        self._leave("cancelled", None)

    def look(self):
        """Reads the place's state. A waiting seller counts as present by it."""
        answer = self._call("GET", "/lock/status?here=true")
        if not answer.get("me"):
            raise Refused(404, "no_place", "the session has no place")
        shared = {"paused": answer.get("paused", False), "notice": answer.get("notice")}
        return self._observe({**answer["me"], **shared})

    def _keep(self, store, server, room, seller):
        """Goes on with the session that the store has; returns whether that has a place to go on with.

        Where it has none, the store has the session to join with.
        """
        if not seller:
            raise ValueError("keep a session: want the seller's id, also beside a token")
        place = f"{server.rstrip('/')} {room} {seller}"
        self._save = lambda session: store.save(place, session)
        fresh, before = self.session, store.load(place)
        self.session = before or fresh
        state = self._known() if before else {}
        if state and (state["status"] != "ended" or state["outcome"] == "completed"):
            return True
        if state:  # the place has ended; without any, the program died before it had joined
            self.session = fresh
        self._save(self.session)
        return False

    def _observe(self, state):
        self.state = state
        self._fence = state.get("fence") or self._fence
        return state

    def _claim(self, state):
        body = {"fence": state["fence"]} if state.get("fence") else {}
        try:
            answer = self._call("POST", "/lock/claim", body)
        except Refused as refused:
            if refused.code not in ("stale_fence", "no_place"):
                raise
            return self.look()  # the lease ended meanwhile
        return self._observe({**answer, "claim_by": None})

    def _expect(self, body):
        """Announces an ask, and returns whether the turn is live."""
        try:
            self._call("POST", "/lock/expect", body, key=str(uuid.uuid4()))
        except Refused as refused:
            if refused.code not in ("stale_fence", "no_place"):
                raise
            if self.look()["status"] != "ended":
                raise
            return False
        return True

    def _messages(self, after="", wait=0):
        query = {"after": after} if after else {}
        if wait:
            query["wait"] = wait
        return self._call("GET", "/lock/messages?" + urllib.parse.urlencode(query), wait=wait)

    def _take(self, answer, before):
        """Returns the newest message with a code that is not in before and that no call has returned."""
        with self._taking:
            for message in reversed(answer["messages"]):
                if message["code"] and message["message_id"] not in self._taken.union(before):
                    self._taken.add(message["message_id"])
                    return message
        return None

    def _await(self, before, late):
        over = None
        after = before[-1] if before else ""
        while True:
            answer = self._messages(after, self._wait)
            message = self._take(answer, before)
            if message:
                return Code(message["code"], message["text"], message["message_id"], message["received_at"],
                            message["late"], answer["fence"])
            after = answer["messages"][-1]["message_id"] if answer["messages"] else ""
            if answer["status"] != "ended":
                continue
            over = over or time.monotonic()
            if not answer.get("judging") and time.monotonic() - over >= late:
                outcome = self.look()["outcome"]
                self._save("")
                raise Ended(outcome)
            time.sleep(_POLL / 4)

    def _leave(self, reason, fence):
        query = {"reason": reason}
        if fence:
            query["fence"] = fence
        try:
            answer = self._call("DELETE", "/lock?" + urllib.parse.urlencode(query))
            self._observe({"status": "ended", "outcome": answer["outcome"]})
        except Refused as refused:
            if refused.code != "no_place":
                raise
            outcome = self._known().get("outcome")
            self._save("")
            if outcome and outcome != reason and reason != "cancelled":
                raise Ended(outcome) from None
        self._save("")

    def _known(self):
        """Returns the place's state; {} if the server has no such place any more."""
        try:
            return self.look()
        except Refused as refused:
            if refused.code != "no_place":
                raise
            return {}

    def _call(self, method, path, body=None, key=None, wait=0, token=None):
        """wait: for how many seconds the server may keep the call before it answers."""
        headers = {**self._headers, "X-Session-ID": self.session, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        pause = _FIRST
        end = time.monotonic() + self._patience + wait
        while True:
            proof = token() if callable(token) else token
            if proof:
                headers["Authorization"] = f"Bearer {proof.strip()}"
            request = urllib.request.Request(self._base + path, data, headers, method=method)
            most = min(_CALL, max(_LEAST, end - time.monotonic()))
            refused = None
            try:
                with _OPENER.open(request, timeout=most) as answer:
                    found = _read(answer)
                if found.get("status"):  # each answer of the server has one; another is some proxy's own
                    return found
            except urllib.error.HTTPError as error:
                refused, later = _refusal(error)
            except http.client.InvalidURL:
                raise
            except (OSError, http.client.HTTPException):  # no whole answer
                pass
            if refused is None:
                later = random.uniform(0, pause)
                pause = min(2 * pause, _MOST)
            elif refused.status < 500 and refused.status != 429:  # an answer, such as number_busy
                time.sleep(later)
                end = time.monotonic() + self._patience + wait
                continue
            left = end - time.monotonic()
            time.sleep(max(0, min(later, left)))
            if later > left:
                raise TimeoutError("waitroom does not answer") from refused


class _Directory:
    """A store of files that only their owner can read. The clients in other languages keep the same."""

    def __init__(self, path):
        self._path = os.fspath(path)

    def _file(self, place):
        return os.path.join(self._path, hashlib.sha256(place.encode()).hexdigest())

    def load(self, place):
        try:
            with open(self._file(place), encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return None

    def save(self, place, session):
        if not session:
            try:
                os.remove(self._file(place))
            except FileNotFoundError:
                pass
            return
        os.makedirs(self._path, mode=0o700, exist_ok=True)
        number, following = tempfile.mkstemp(prefix=".next-", dir=self._path)  # with mode 0600
        with open(number, "w", encoding="ascii") as file:
            file.write(session + "\n")
        os.replace(following, self._file(place))


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, since the session is a secret for the named server only."""

    def redirect_request(self, *_):
        return None


_OPENER = urllib.request.build_opener(_Stay)


def _read(answer):
    """Returns the object that an answer has; {} where it has none, such as a proxy's own page."""
    try:
        found = json.loads(answer.read(_ANSWER))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(error):
    """Returns the Refused and in how many seconds to call again; raises it where a repeat changes nothing."""
    with error:
        try:
            problem = _read(error)
        except (OSError, http.client.HTTPException):
            problem = {}
    refused = Refused(error.code, problem.get("code", "unknown"), problem.get("detail", ""),
                      problem.get("reason", ""))
    after = error.headers.get("Retry-After", "")
    if after.isdecimal():
        return refused, min(max(int(after), 1), _BUSY if refused.code == "number_busy" else _AFTER)
    if error.code >= 500 or error.code == 429:
        return refused, 1
    raise refused
