package templates_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table has the events of a page, in ms, and what a screen reader gets. Texts that are only cleared are
// left out where they were polite.
func TestPageSpeaksAsTheTableHasIt(t *testing.T) {
	table, err := os.ReadFile("testdata/speech.json")
	require.NoError(t, err)
	tab := openModules(t)
	require.Empty(t, run[[]string](tab, `(async (table) => {
		const { Speaker } = await import("/static/js/speak.js");
		const wrong = [];
		for (const { name, do: events, said } of table) {
			let now = 0, id = 0;
			let due = [];
			const got = [];
			const clock = {
				now: () => now,
				after: (ms, run) => (due.push({ id: ++id, at: now + ms, run }), id),
				cancel: (gone) => (due = due.filter((d) => d.id !== gone)),
			};
			const speaker = new Speaker((polite, text, done) => {
				if (text || !polite) got.push([now, polite ? "polite" : "assertive", text]);
				done();
			}, clock);
			const runTo = (end) => {
				for (;;) {
					const next = due.filter((d) => d.at <= end).sort((a, b) => a.at - b.at || a.id - b.id)[0];
					if (!next) break;
					due = due.filter((d) => d !== next);
					now = next.at;
					next.run();
				}
				now = end;
			};
			for (const [at, event, text] of events) {
				runTo(at);
				if (event === "place" || event === "near") speaker.place(text, event === "near");
				else speaker[event](text);
			}
			runTo(120000);
			const want = JSON.stringify(said), have = JSON.stringify(got);
			if (want !== have) wrong.push(name + ": " + have);
		}
		return wrong;
	})(%s)`, table))
}
