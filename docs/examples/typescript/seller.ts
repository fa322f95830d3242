// Joins a room, waits for the lock, and gives it back: node seller.ts [seller id]. Node 22.18 or newer, and nothing else.

const room = `${process.env.WAITROOM ?? "http://localhost:8080"}/api/${process.env.ROOM ?? "integration"}`;
// One session a seller: any program that has it can act for the place. A call whose answer was lost can be repeated with it.
const session = { "X-Session-ID": crypto.randomUUID() };

interface Place {
  status: "idle" | "waiting" | "locked" | "ended" | "released" | "left";
  outcome?: string | null;
  queue_position?: number | null;
  fence?: number | null;
  claim_by?: number | null;
}
type Frame = ({ type: "state" } & Place) | { type: "ping" | "sms" | "sms_unclaimed" | "notice" };

async function ask(method: string, path: string, body?: object): Promise<Place> {
  const answer = await fetch(room + path, {
    method,
    headers: { ...session, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`); // a Problem, with a code
  return answer.json();
}

// wait reads states until it is our turn. A program that runs for long opens the socket again when it breaks, with a random wait.
// In a browser the cookie says whose socket it is; here a header does, which Node's WebSocket takes and browsers' does not.
function wait(): Promise<Place> {
  const socket = new WebSocket(room.replace(/^http/, "ws") + "/ws", { headers: session } as any);
  return new Promise<Place>((resolve, reject) => {
    socket.onmessage = ({ data }) => {
      const frame: Frame = JSON.parse(data);
      if (frame.type === "ping") socket.send('{"type":"pong"}');
      if (frame.type !== "state") return;
      if (frame.status === "waiting") console.log("waiting", frame.queue_position);
      else if (frame.status === "locked") resolve(frame);
      else reject(new Error(`no lock: ${data}`));
    };
    socket.onclose = ({ code }) => reject(new Error(`closed: ${code}`));
  }).finally(() => socket.close());
}

let mine = await ask("POST", "/lock", { seller_id: process.argv[2] ?? "s-1" }); // join
if (mine.status === "waiting") mine = await wait();
if (mine.claim_by != null) await ask("POST", "/lock/claim", { fence: mine.fence }); // claim
console.log("locked", mine.fence);

// … the work that the lock protects; hand the fence on to it …

// done: with the fence, so that no other lease is ended by mistake
const ended = await ask("DELETE", `/lock?reason=completed&fence=${mine.fence}`);
console.log(ended.outcome);
process.exit(0); // the socket's closing handshake need not be waited for
