// Runs one turn by the JavaScript client: commands come as lines of JSON, and each is answered by one.
import { createInterface } from "node:readline";

const { Ended, Refused, join, resume } = await import(process.argv[2]);
const answer = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const going = new Map(); // command → what its ask waits for
let turn;
let last;

function wordOf(error) {
  if (error instanceof Ended) return error.outcome;
  const named = error instanceof Refused && error.message.includes(error.code); // also in a log of the text
  return named ? error.code : String(error);
}

const commands = {
  async join({ url, room, seller }) {
    turn = await join(url, room, seller);
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
  async code({ id, from, late, within }) {
    const ask = () => (answer({ id, asks: true }), new Promise((resolve) => going.set(id, resolve)));
    const signal = within ? AbortSignal.timeout(within) : undefined;
    last = await turn.code({ from: [from], ask, late, signal });
    return { code: last.code, late: last.late };
  },
  reject: () => turn.reject(last),
  done: () => turn.done(),
  leave: () => turn.leave(),
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
