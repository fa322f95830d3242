// Takes a turn, asks for a code, uses it and gives the turn back: node robot.ts [seller id]. Node 22.18 or newer.
// In a project of your own: npm install ./clients/js, and import from "waitroom".
import { Ended, join } from "../../../clients/js/waitroom.js";

// pressSendCode has the marketplace send the code. It is called once the number is free for that.
const pressSendCode = () => console.log("asked");

const server = process.env.WAITROOM ?? "http://localhost:8080";
const turn = await join(server, process.env.ROOM ?? "integration", process.argv[2] ?? "s-1");
try {
  await turn.wait({
    onState: (state) => state.status === "waiting" && console.log("waiting", state.queue_position),
  });
  console.log("locked", turn.state.fence);
  const { code } = await turn.code({ ask: pressSendCode }); // from: ["15881234"] names its sender
  console.log("code", code); // … enter it at the marketplace …
  await turn.done();
  console.log("completed");
} catch (error) {
  if (!(error instanceof Ended)) throw error;
  console.error(`no code: the turn is over (${error.outcome})`);
  process.exitCode = 1;
}
