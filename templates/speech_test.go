package templates_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
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
			const write = (polite, text, done) => {
				if (text || !polite) got.push([now, polite ? "polite" : "assertive", text]);
				done();
			};
			const to = (place) => got.push([now, "moves", place]);
			const speaker = new Speaker({ write, to }, clock);
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

// Screen readers hear nothing from around an open question.
func TestOpenQuestionIsDescribedAndTextsAreSaidInIt(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.Click("#cancel"))
	tab.until(`document.activeElement.id === "leave-stay"`)
	tab.until(`document.activeElement.getAttribute("aria-describedby").split(" ").map(
		(id) => document.getElementById(id).innerText).join(" ") ===
		"이번 차례를 취소할까요? 바로 다음 분께 넘어가요. 다시 하려면 줄을 새로 서야 해요."`)
	room.send(t, message("m-1", "점검 안내", nil, 0))
	tab.until(`document.querySelector("#leave-dialog[open] #say")?.textContent.includes("점검 안내")`)

	room.send(t, message("m-2", "인증번호 482103", "482103", 0))
	tab.until(`!document.getElementById("leave-dialog").open`)
	tab.until(`document.querySelector("body > #shout").textContent === "인증번호: 4 8 2 1 0 3."`)
	require.Empty(t, tab.text("say"), "it would be said once more where it moves to")
	tab.requireQuiet()
}
