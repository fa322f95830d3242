package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// heard records the sounds and the notifications that an agent would get while looking elsewhere.
const heard = `window.played = 0; window.shown = [];
	window.AudioContext = class extends AudioContext {
		constructor() { super(); window.audio = this; }
		createOscillator() { window.played++; return super.createOscillator(); }
	};
	window.Notification = class extends EventTarget {
		static permission = "default";
		static async requestPermission() { return (Notification.permission = "granted"); }
		constructor(title, { body }) { super(); window.shown.push(title + ": " + body); }
		close() {}
	}`

// audible is true once the press has woken the browser's sound, which takes longer on a busy machine.
const audible = `window.audio?.state === "running"`

func TestDeskSpeaksUpForWhatItsAgentChose(t *testing.T) {
	d := startFakeDesk(t, 0)
	d.rooms = fewRooms()
	tab := openDesk(t, d)
	tab.before(heard)
	tab.open(roomsPage)
	// the problems "stuck" and "nobodys" (a code without a seller)
	tab.until(
		`document.title.startsWith("(2) ") && document.querySelector('link[rel="icon"]').href.endsWith("/alarm.svg")`)
	tab.click("#attention-open")
	tab.click("[name=paused]")
	tab.until(`document.title.startsWith("(4) ")`)
	tab.click("[name=sound]")
	tab.click("#attention-notify")
	tab.until(
		`Notification.permission === "granted" && JSON.parse(localStorage.getItem("desk-attention")).notify`)
	tab.click("#attention .act-answers button")
	tab.press("j")
	tab.until(audible)
	require.Equal(t, "0 0", run[string](tab, `[played, shown.length].join(" ")`),
		"what was there before is no news")

	d.send(roomFrame("calm", object{"trouble": list{"expired"}}))
	tab.until(`document.querySelector('[data-key="calm"] .chip.warn')`)
	require.Equal(t, "0 0", run[string](tab, `[played, shown.length].join(" ")`), "that was not chosen")
	d.send(roomFrame("calm", object{"trouble": list{"expired", "stuck"}}))
	tab.until(`document.title.startsWith("(5) ") && played > 0`)
	require.Equal(t, 0, run[int](tab, `shown.length`), "the agent looks at the page")
	run[bool](tab, `(Object.defineProperty(document, "hidden", { value: true }), played = 0, true)`)
	d.send(roomFrame("long", object{"trouble": list{"lost"}}))
	tab.until(`played > 0 && shown.join() === "확인이 필요해요: long: 데이터 유실"`)

	tab.open(roomsPage)
	tab.until(`document.title.startsWith("(4) ") && document.querySelector("[name=paused]").checked`)
	for _, room := range []string{"stuck", "both", "paused"} {
		d.send(roomFrame(room, object{"trouble": list{}}))
	}
	tab.until(
		`!document.title.startsWith("(") && document.querySelector('link[rel="icon"]').href.endsWith("/waiting.svg")`)
}

func TestDeskGoesOnWhereTheBrowserShowsNoNotification(t *testing.T) {
	for how, script := range map[string]string{
		"none at all":    `delete window.Notification`,
		"none of a page": `window.Notification = class { static permission = "granted"; constructor() { throw new TypeError("Illegal constructor"); } }`,
	} {
		t.Run(how, func(t *testing.T) {
			d := startFakeDesk(t, 0)
			d.rooms = fewRooms()
			tab := openDesk(t, d)
			tab.before(script +
				`; localStorage.setItem("desk-attention", '{"stuck":true,"notify":true}'); Object.defineProperty(document, "hidden", { value: true })`)
			tab.open(roomsPage)
			tab.click("[name=paused]")
			tab.until(`JSON.parse(localStorage.getItem("desk-attention")).paused`)
			d.send(roomFrame("calm", object{"trouble": list{"stuck"}}))
			tab.until(`document.querySelector('[data-key="calm"] .chip.bad')`)
		})
	}
}

func TestRoomsDeskSpeaksUpForEachUnassignedMessage(t *testing.T) {
	d := startFakeDesk(t, 3)
	tab := openDesk(t, d)
	tab.before(heard + `; localStorage.setItem("desk-attention", '{"nobodys":true,"sound":true}')`)
	tab.open(roomPage)
	tab.until(`document.body.dataset.connection === "open" && !document.title.startsWith("(")`)
	tab.press("j") // browsers are silent before a press
	tab.until(audible)
	for _, n := range []int64{2, 1} { // the second is later
		run[bool](tab, `(played = 0, true)`)
		d.send(object{"type": "items", "set": list{unowned(n)}})
		tab.until(`document.title.startsWith("(1) ") && played > 0`)
	}
}
