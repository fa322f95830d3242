package templates_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// A module without a page is tested in an empty one.
func openModules(t *testing.T) *deskTab {
	d := startFakeDesk(t, 0)
	tab := &deskTab{t, browsertest.Page(t), d}
	tab.do(chromedp.Navigate(d.server.URL + "/support/modules"))
	return tab
}

func TestLineFollowsChangesAsInTheTable(t *testing.T) {
	tab := openModules(t)
	table, err := os.ReadFile("testdata/desk_model.json")
	require.NoError(t, err)
	wrong := run[[]string](tab, `(async (table) => {
		const { DeskModel } = await import("/static/js/desk/model.js");
		const holder = (ticket) => ticket == null ? null : { ticket, fence: ticket };
		const wrong = [];
		for (const row of table) {
			const model = new DeskModel();
			const same = (what, want, got) => JSON.stringify(want) === JSON.stringify(got) || wrong.push([row.name, what, JSON.stringify(got)].join(" | "));
			same("first", "changed", model.apply({ type: "desk", epoch: "e", version: 7, line: row.line, holder: holder(row.holder) }));
			same("result", row.result, model.apply({ type: "change", epoch: "e", version: 8, ...row.change, holder: holder(row.change.holder) }));
			same("line", row.then, model.line.map(({ ticket }) => ticket));
			same("holder", row.now, model.holder?.ticket ?? null);
			same("away", row.away ?? 0, model.away);
			same("version", row.result === "changed" ? row.change.version ?? 8 : 7, model.version);
			same("places", row.then.map((_, i) => i + 1), row.then.map((ticket) => model.position(ticket)));
		}
		return wrong;
	})(%s)`, table)
	require.Empty(t, wrong)
}

func TestVersionsNeverGoBackWithinAnEpoch(t *testing.T) {
	tab := openModules(t)
	got := run[string](tab, `(async () => {
		const { DeskModel } = await import("/static/js/desk/model.js");
		const model = new DeskModel();
		const shown = [];
		const full = (epoch, version, ...tickets) =>
			shown.push(model.apply({ type: "desk", epoch, version, holder: null, line: tickets.map((n) => [n, "s" + n, n, 0]) }) + model.version);
		const change = (version, ticket, position) =>
			shown.push(model.apply({ type: "change", epoch: "e", version, holder: null, joined: [[ticket, "s" + ticket, 1, position]] }) + model.version);
		full("e", 7, 1, 2, 3);
		full("e", 5, 1);
		change(6, 2, 2);
		shown.push(model.line.length);
		change(7, 3, 3);
		change(8, 4, 4);
		shown.push(model.line.length);
		full("f", 1, 9);
		return shown.join(" ");
	})()`)
	require.Equal(t, "changed7 old7 old7 3 changed7 changed8 4 changed1", got)
}

// Any changes of a line lead to the same state as a full frame.
func TestChangesLeadToTheSameLineAsAFullFrame(t *testing.T) {
	tab := openModules(t)
	random := rand.New(rand.NewPCG(1, 2))
	d := &fakeDesk{version: 1}
	var frames []object
	note := func(shown object) {
		d.version++
		frame := d.head("change")
		for name, value := range shown {
			frame[name] = value
		}
		frames = append(frames, frame)
	}
	first := encode(d.full())
	for ticket := int64(1); ticket < 400; ticket++ {
		note(d.join(ticket, sellerName(int(ticket))))
		for range random.IntN(3) {
			if len(d.line) == 0 {
				continue
			}
			one := d.line[random.IntN(len(d.line))].ticket
			switch random.IntN(5) {
			case 0:
				note(d.next("completed"))
			case 1:
				note(d.remove(one, "cancelled"))
			case 2:
				note(d.away(one, int64(random.IntN(2))))
			default:
				note(d.move(one, 1+random.IntN(len(d.line))))
			}
		}
	}
	want := d.full()["line"]
	got := run[string](tab, `(async (first, frames) => {
		const { DeskModel } = await import("/static/js/desk/model.js");
		const model = new DeskModel();
		model.apply(first);
		for (const frame of frames) if (model.apply(frame) !== "changed") return "gap at " + frame.version;
		return JSON.stringify(model.line.map(({ ticket, seller, joined, away }) => [ticket, seller, joined, away]));
	})(%s, %s)`, first, encode(frames))
	require.NotEmpty(t, want)
	require.JSONEq(t, string(encode(want)), got, "%d changes", len(frames))
}

func TestHourOfMinutesHasNoHolesAndEndsWithTheLineOfNow(t *testing.T) {
	tab := openModules(t)
	got := run[json.RawMessage](tab, `(async () => {
		const { lastHour, outcomesOf, stacked } = await import("/static/js/desk/minutes.js");
		const now = 1790000040000 + 30000;
		const minutes = [
			{ at: 1790000040000 - 120000, depth: 4, granted: 1, wait_p50: -1, wait_p95: 9000, delay_p50: 0, delay_p95: 3, outcomes: { expired: 1, completed: 2 } },
			{ at: 1790000040000 - 3600000, depth: 99, outcomes: { lost: 1 } },
		];
		const hour = lastHour(minutes, now, 7);
		const names = outcomesOf(hour);
		return [hour.length, hour.at(-1).at, hour.at(-1).depth, hour.at(-2).depth, hour.at(-3).depth, hour.at(-3).wait_p50, hour.at(-3).delay_p50, names, stacked(hour, names).map((edge) => edge.at(-3))];
	})()`)
	require.JSONEq(t, fmt.Sprintf(`[60, %d, 7, null, 4, null, 0, ["completed", "expired"], [2, 3]]`,
		int64(1790000040000)), string(got))
}

func TestAgeOfTheDataIsTheLagOfTheLastBeatAndTheSilenceSince(t *testing.T) {
	tab := openModules(t)
	got := run[string](tab, `(async () => {
		const { Freshness } = await import("/static/js/desk/freshness.js");
		let now = 0;
		const fresh = new Freshness(() => now);
		const shown = [];
		const look = (at) => { now = at; shown.push(fresh.state + fresh.age); };
		look(2999);
		look(3000);
		fresh.hear({ type: "beat", server_time: 5000, as_of: 4000 });
		look(4000);
		look(5000);
		fresh.hear({ type: "items" });
		look(5000);
		look(14000);
		fresh.hear({ type: "beat", server_time: 9000, as_of: 9000 });
		look(14000);
		fresh.connection(true);
		look(14000);
		return shown.join(" ");
	})()`)
	require.Equal(t, "fresh2999 late3000 fresh2000 late3000 fresh1000 stale10000 fresh0 lost0", got)
}

// A page of the desk is open for days: a row that left the list is not kept. One that stays is the same
// element, so that focus stays.
func TestARowThatLeftTheListIsForgotten(t *testing.T) {
	tab := openModules(t)
	got := run[[]bool](tab, `(async () => {
		const { ItemsPanel } = await import("/static/js/desk/items.js");
		for (const [tag, id] of [["p", "items-empty"], ["span", "items-count"], ["ul", "items"]]) {
			document.body.append(Object.assign(document.createElement(tag), { id }));
		}
		const words = { incident: { "": "?" }, results: {}, whys: {} };
		const items = {};
		const panel = new ItemsPanel({ words, items, server: { now: () => 1e12 }, room: "a" });
		const draw = (...keys) => {
			items.all = keys.map((key) => ({ key, at: 1e12, kind: "incident", incident: "lost" }));
			panel.draw();
			return panel.list.querySelector('[data-key="one"]');
		};
		const others = Array.from({ length: 200 }, (_, i) => "other-" + i);
		const first = draw("one", ...others);
		const stayed = draw("two", "one");
		draw("two");
		const back = draw("two", "one");
		const behind = draw(...others, "one"); // the list ends before it
		const again = draw("two", "one");
		return [stayed === first, back === first, behind === null, again === back];
	})()`)
	require.Equal(t, []bool{true, false, true, false}, got)
}
