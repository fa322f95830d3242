package templates_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/templates"
)

// viewTable has each state with the texts that the page shows. The page without JavaScript and the page with
// it have to agree on it.
type viewTable struct {
	IDs   []string // the parts to compare
	Cases []viewCase
}

type viewCase struct {
	Name     string
	State    viewState                      // of the contract's frame, with moments in seconds from now
	Joined   int                            // the position at joining
	History  struct{ Spread, Hold float64 } // seconds, of a room without an average of its own
	Rejected bool                           // once it was over
	SMS      []viewMessage
	Offers   []viewMessage
	Shown    map[string]string // text by id; all others are hidden. title is the document's, data-… the body's
}

type viewState struct {
	Status, Outcome string
	Ticket, Fence   int64
	QueuePosition   int      `json:"queue_position"`
	QueueLength     int      `json:"queue_length"`
	EstimatedWait   *int     `json:"estimated_wait"`
	MaximumWait     *int     `json:"maximum_wait"`
	LeaseExpiresIn  *float64 `json:"lease_expires_in"`
	OpensIn         *float64 `json:"opens_in"`
	Paused          bool
	Unclaimed       bool
	ClaimIn         *float64 `json:"claim_in"`
	Codes           *struct {
		Asked, Open int
		AskIn       *float64 `json:"ask_in"`
	}
}

type viewMessage struct {
	ID, Text, Code string
	Ago            int64 // seconds
	Late           bool
}

const viewNow = int64(1_790_000_000_000)

// moment returns the time so many seconds after the table's; 0 for none.
func moment(in *float64) int64 {
	if in == nil {
		return 0
	}
	return viewNow + int64(*in*1000)
}

func (c viewCase) view() templates.RoomView {
	v := templates.RoomView{
		Lang: "ko", Room: "integration", AssetPrefix: "/static/v-1", Epoch: "e", ServerTime: viewNow,
		LeaseSeconds: 120, ClaimSeconds: 20, JoinedPosition: c.Joined, SpreadSeconds: c.History.Spread,
		HoldSeconds: c.History.Hold,
		State:       c.State.Status, Outcome: c.State.Outcome, Ticket: c.State.Ticket, Fence: c.State.Fence,
		QueuePosition: c.State.QueuePosition,
		QueueLength:   c.State.QueueLength, EstimatedWait: c.State.EstimatedWait, MaximumWait: c.State.MaximumWait,
		LeaseExpiresAt: moment(c.State.LeaseExpiresIn), OpensAt: moment(c.State.OpensIn), Public: wire.Public{Paused: c.State.Paused},
		Marks: wire.Marks{Unclaimed: c.State.Unclaimed}, Rejected: c.Rejected, ClaimBy: moment(c.State.ClaimIn),
	}
	if codes := c.State.Codes; codes != nil {
		v.Codes = &templates.CodesView{Asked: codes.Asked, Open: codes.Open, AskAfter: moment(codes.AskIn)}
	}
	for _, m := range c.SMS {
		v.SMS = append(v.SMS, templates.SMSView{MessageID: m.ID, Text: m.Text, Code: m.Code, Late: m.Late,
			ReceivedAt: viewNow - m.Ago*1000})
	}
	for _, m := range c.Offers {
		v.Offers = append(v.Offers, templates.OfferView{MessageID: m.ID, ReceivedAt: viewNow - m.Ago*1000})
	}
	return v
}

func readViews(t *testing.T) (content []byte, table viewTable) {
	t.Helper()
	content, err := os.ReadFile("testdata/view.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &table))
	require.NotEmpty(t, table.Cases)
	return content, table
}

func TestPageShowsAStateAsInTheTable(t *testing.T) {
	_, table := readViews(t)
	for _, row := range table.Cases {
		require.Equal(t, row.Shown, shown(t, render(t, templates.RoomPage(row.view())), table.IDs), row.Name)
	}
}

func TestScriptShowsAStateAsInTheTable(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	content, table := readViews(t)
	tab.do(inZone("Asia/Seoul"))
	tab.open(room, "ko")
	seen, err := chromedp.Run(tab.ctx,
		chromedp.Evaluate[map[string]map[string]string](fmt.Sprintf(drawViews, content, viewNow),
			chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	for _, row := range table.Cases {
		require.Equal(t, row.Shown, seen[row.Name], row.Name)
	}
	tab.requireQuiet()
}

// drawViews makes the page's own modules draw each state of the table into one page. It returns the visible
// texts.
const drawViews = `(async ({ ids, cases }, now) => {
	const { Journey } = await import("/static/js/journey.js");
	const { Unclaimed } = await import("/static/js/unclaimed.js");
	const { View } = await import("/static/js/view.js");
	const { words } = JSON.parse(document.getElementById("page-data").textContent);
	const server = { now: () => now, here: (moment) => new Date(moment) };
	const journey = new Journey("table", {}, 0);
	const messages = document.getElementById("sms");
	const unclaimed = new Unclaimed({ words, server, journey, onYes() {} });
	const view = new View({ words, leaseSeconds: 120, claimSeconds: 20, dropSeconds: 0, journey, server, messages, unclaimed, onStep() {} });

	const moment = (seconds) => (seconds == null ? null : now + seconds * 1000);
	const frame = ({ lease_expires_in, opens_in, claim_in, codes, ...state }, epoch) => ({
		outcome: null, ticket: null, fence: null, queue_position: null, queue_length: 0, estimated_wait: null, maximum_wait: null, paused: false,
		...state, epoch, version: 1, server_time: now, lease_expires_at: moment(lease_expires_in), claim_by: moment(claim_in), opens_at: moment(opens_in),
		codes: codes ? { asked: codes.asked, open: codes.open, ask_after: moment(codes.ask_in) } : null,
	});
	const textOf = (node) => [...node.childNodes].map((part) => {
		if (part.nodeType === Node.TEXT_NODE) return part.data;
		return part.hidden || part.matches("li button") ? "" : " " + textOf(part) + " "; // such a button copies: it needs a script
	}).join("");
	const onShow = () => {
		const shown = { title: view.title(Math.max((view.state.claim_by ?? view.state.lease_expires_at ?? now) - now, 0)) };
		for (const name of ["state", "step", "next", "missed", "hurry", "paused"]) shown["data-" + name] = document.body.dataset[name];
		for (const id of ids) {
			const element = document.getElementById(id);
			if (!element.closest("[hidden]")) shown[id] = textOf(element).split(/\s+/).filter(Boolean).join(" ");
		}
		return shown;
	};

	const seen = {};
	for (const [n, row] of cases.entries()) {
		const state = frame(row.state, "e" + n); // what is remembered of a place does not reach the next one
		const all = (list) => (list ?? []).map((m) => ({ ...m, message_id: n + m.id, received_at: now - m.ago * 1000 }));
		new Journey("table", state, row.joined);
		if (row.rejected) journey.reject(state);
		messages.start({ words, server, messages: [], past: 0, onForget() {} });
		view.history = { spread: 0, hold: 0, holds: 0, ...row.history };
		view.draw(state);
		for (const message of all(row.sms)) messages.add(message);
		for (const offer of all(row.offers)) unclaimed.hear(offer);
		view.draw(state);
		seen[row.name] = onShow();
		for (const { message_id } of all(row.sms)) messages.reject(message_id);
		for (const { message_id } of all(row.offers)) unclaimed.drop(message_id);
	}
	return seen;
})(%s, %d)`
