package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A page of a portal gets the reason why no connection comes about. A token that ends in a line break counts.
func TestEmbeddedPageIsToldWhyItIsRefused(t *testing.T) {
	tab := openModules(t)
	require.Empty(t, run[[]string](tab, `(async () => {
		const { Refused, WaitingRoom } = await import("/static/embed.js");
		const wrong = [];
		const is = (what, want, got) => want === got || wrong.push([what, got].join(" | "));
		const opened = [];
		const [Socket, get] = [WebSocket, fetch];
		window.WebSocket = class extends EventTarget {
			static CLOSING = 2;
			readyState = 0;
			constructor(url, protocols) {
				super();
				if (protocols.some((word) => /\s/.test(word))) throw new SyntaxError("no protocol");
				opened.push(protocols.join(" "));
				setTimeout(() => this.dispatchEvent(Object.assign(new Event("close"), { code: 1006 })));
			}
			close() {}
		};
		const asked = [];
		window.fetch = async (url, { headers }) => {
			asked.push(headers.Authorization);
			return new Response(JSON.stringify({ code: "unknown_room", detail: "no such room" }), { status: 404 });
		};
		const refusal = async (token) => {
			const view = WaitingRoom.connect({ room: "nowhere", token });
			const none = new Promise((done) => setTimeout(done, 30000, { code: "none" }));
			const error = await Promise.race([new Promise((done) => view.on("error", done)), none]);
			view.close();
			return error;
		};
		const unknown = await refusal(() => "abc\n");
		is("name", "Refused", unknown.name);
		is("class", true, unknown instanceof Refused);
		is("code", "unknown_room", unknown.code);
		is("header", "Bearer abc", asked[0]);
		is("protocol", true, (opened[0] ?? "").endsWith(" waitroom.token.abc"));
		const failed = await refusal(() => { throw new Error("backend is down"); });
		const reasons = ["sub is a number", "sub is a number", "exp is missing"];
		window.fetch = async () => new Response(JSON.stringify({ code: "invalid_token", detail: "no",
			reason: reasons.length > 1 ? reasons.shift() : reasons[0] }), { status: 401 });
		const view = WaitingRoom.connect({ room: "integration", token: "abc" });
		const told = await new Promise((done) => {
			const heard = [];
			view.on("error", ({ problem }) => heard.push(problem.reason) === 2 && done(heard));
			setTimeout(done, 30000, heard);
		});
		view.close();
		is("reasons", "sub is a number, exp is missing", told.join(", "));
		is("token", "token_failed backend is down", failed.code + " " + failed.message);
		[window.WebSocket, window.fetch] = [Socket, get];
		return wrong;
	})()`))
}
