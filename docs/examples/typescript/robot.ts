// Takes a turn, asks for a code, uses it and gives the turn back: node robot.ts [seller id]. Node 22.18 or newer, and nothing else.
// It opens no socket: every call may be repeated, so a connection that breaks costs nothing but another call.

const room = `${process.env.WAITROOM ?? "http://localhost:8080"}/api/${process.env.ROOM ?? "integration"}`;
// One session a robot: whoever has it acts for the place, and so a call whose answer was lost can be repeated.
const session = crypto.randomUUID();

interface Place {
  status: "waiting" | "locked" | "ended" | "released";
  queue_position?: number;
  fence?: number;
  outcome?: string;
}
interface Messages {
  status: "waiting" | "locked" | "ended";
  judging?: true;
  messages: { message_id: string; code: string | null }[];
}

const me = async () => (await ask<{ me: Place | null }>("GET", "/lock/status")).me;
const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

// ask repeats a call until it is answered, and where the answer says Retry-After, such as 409 number_busy, when that has passed.
async function ask<Answer>(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
  for (;;) {
    try {
      const answer = await fetch(room + path, {
        method,
        headers: { "X-Session-ID": session, "Content-Type": "application/json", ...headers },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text);
      const later = answer.headers.get("Retry-After");
      if (later === null) end(`${answer.status} ${text}`); // a Problem, with a code
      await pause(Number(later));
    } catch {
      await pause(1);
    }
  }
}

function end(why: string): never {
  console.error(why);
  process.exit(1);
}

// join, and wait for the turn
let mine: Place | null = await ask<Place>("POST", "/lock", { seller_id: process.argv[2] ?? "s-1", asks: true });
while (mine?.status === "waiting") {
  console.log("waiting", mine.queue_position);
  await pause(1);
  mine = await me();
}
if (mine?.status !== "locked") end(`no turn: ${JSON.stringify(mine)}`);
const fence = mine.fence;
console.log("locked", fence);

// ask: right before the marketplace is asked. A busy number says number_busy until another seller's code can not come any more.
const asked = await ask<{ asked: number }>("POST", "/lock/expect", { fence }, { "Idempotency-Key": crypto.randomUUID() });
console.log("asked", asked.asked);

// … ask the marketplace to send the code …

// code: a turn that a message has ended is "ended" with its message, so the messages are looked at first
let code: string | null = null;
for (let after = ""; code === null; ) {
  const got = await ask<Messages>("GET", `/lock/messages?wait=30&after=${encodeURIComponent(after)}`);
  for (const message of got.messages) [code, after] = [message.code ?? code, message.message_id];
  if (code === null && got.status === "ended" && !got.judging) // where it is, the code is still checked
    end(`no code: the turn is over (${(await me())?.outcome})`);
}
console.log("code", code);

// … use the code …

// done: the message has ended the turn already, which is no error
console.log((await ask<Place>("DELETE", `/lock?reason=completed&fence=${fence}`)).outcome);
