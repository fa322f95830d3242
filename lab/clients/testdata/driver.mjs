// Runs one turn by the JavaScript client: commands come as lines of JSON, and each is answered by one.
import { createInterface } from "node:readline";

const { Ended, Refused, join, resume } = await import(process.argv[2]);
const answer = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const going = new Map(); // command → what its ask waits for
let turn;
let hurry; // milliseconds that a call may take; undefined = any time
let last;

const soon = (patience) => (patience ? { signal: AbortSignal.timeout(patience) } : {});

function wordOf(error) {
  if (error instanceof Ended) return error.outcome;
  const named = error instanceof Refused && error.message.includes(error.code); // also in a log of the text
  return named ? error.code : String(error);
}

const commands = {
  async join({ url, room, seller, keep, patience }) {
    turn = await join(url, room, seller, { keep, ...soon(patience) });
    return { session: turn.session };
  },
  async proven({ url, room, portal }) {
    const token = async (signal) => {
      const answer = await fetch(portal, { signal });
      if (!answer.ok) throw new Error("the portal is closed");
      return answer.text();
    };
    turn = await join(url, room, "", { token });
    return { session: turn.session };
  },
  async resume({ url, room, session }) {
    turn = await resume(url, room, session);
    return { session: turn.session };
  },
  async wait() {
    const positions = [];
    await turn.wait({ onState: (state) => positions.push(state.queue_position ?? 0) });
    return { positions };
  },
  async code({ id, from, late }) {
    const ask = () => (answer({ id, asks: true }), new Promise((resolve) => going.set(id, resolve)));
    last = await turn.code({ from: [from], ask, late, ...soon(hurry) });
    return { code: last.code, late: last.late };
  },
  reject: () => turn.reject(last),
  done: () => turn.done(soon(hurry)),
  leave: () => turn.leave(),
  async hurry({ patience }) {
    hurry = patience;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.do === "go") {
    going.get(command.id)();
    continue;
  }
  commands[command.do](command).then(
    (result) => answer({ id: command.id, ...result }),
    (error) => answer({ id: command.id, error: wordOf(error) }),
  );
}
process.exit(0);
