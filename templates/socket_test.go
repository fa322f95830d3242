package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// socketOf has a RoomSocket on sockets that the test lets fail. pass runs what is planned within so many
// milliseconds.
const socketOf = `
	const { RoomSocket } = await import("/static/js/socket.js");
	const made = [], planned = new Map(), said = [];
	window.WebSocket = class extends EventTarget {
		static CLOSING = 2;
		readyState = 0;
		constructor() { super(); made.push(this); }
		close() { this.readyState = 2; }
		fails(type, more) { this.dispatchEvent(Object.assign(new Event(type), more)); }
		hears(frame) { this.fails("message", { data: JSON.stringify(frame) }); }
	};
	let last = 0;
	window.setTimeout = (f, ms = 0) => { planned.set(++last, { f, ms }); return last; };
	window.clearTimeout = (id) => planned.delete(id);
	const pass = async (ms) => {
		for (const [id, plan] of [...planned]) if (plan.ms <= ms && planned.delete(id)) plan.f();
		await opened();
	};
	const opened = () => new Promise((resolve) => queueMicrotask(() => queueMicrotask(resolve)));
	let listener = () => {};
	const onStatus = (status, code) => {
		said.push([status, code].join(" ").trim());
		listener(status);
	};
	const socket = new RoomSocket({ url: "ws://localhost", onFrame: () => {}, onStatus });`

// Node reports a socket that did not open by "error" alone, a browser by "error" and then "close".
func TestSocketIsLostOnceByAnErrorOrItsClose(t *testing.T) {
	for events, then := range map[string][]string{
		`["error"]`:                   {"connecting", "lost 1006", "open"},
		`["close", "error"]`:          {"connecting", "lost 4001", "open"},
		`["error", "close"]`:          {"connecting", "lost 4001", "open"},
		`["error", "error"]`:          {"connecting", "lost 1006", "open"},
		`["error", "close for good"]`: {"connecting", "closed 4502"},
		`["close for good", "error"]`: {"connecting", "closed 4502"},
	} {
		t.Run(events, func(t *testing.T) {
			require.Equal(t, then, run[[]string](openModules(t), `(async (events) => {%s
				socket.start();
				await opened();
				for (const event of events) {
					const [type, good] = event.split(" for ");
					made[0].fails(type, type === "close" ? { code: good ? 4502 : 4001 } : {});
				}
				await pass(0);
				await pass(1000);
				if (made.length > 1) made.at(-1).hears({ type: "state" });
				return said;
			})(%s)`, socketOf, events))
		})
	}
}

// A listener may close the view of a room or stop waiting, at any word of the socket.
func TestSocketThatItsListenerPutsToRestStaysAtRest(t *testing.T) {
	for status, does := range map[string]string{
		"connecting": ``,
		"open":       `made[0].hears({ type: "state" })`,
		"lost":       `made[0].fails("close", { code: 1006 })`,
		"closed":     `made[0].fails("close", { code: 4502 })`,
	} {
		t.Run(status, func(t *testing.T) {
			require.Equal(t, []any{status, 0.0}, run[[]any](openModules(t), `(async (status) => {%s
				listener = (now) => { if (now === status) socket.rest(); };
				socket.start();
				await opened();
				%s;
				await opened();
				return [said.at(-1).split(" ")[0], planned.size];
			})("%s")`, socketOf, does, status))
		})
	}
}
