package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// items returns the panels that a replica sends beside the line, once they fulfil a condition.
func (r *replica) items(t *testing.T, ready func([]map[string]any) bool) (found []map[string]any) {
	t.Helper()
	d := newPanels(r.engine, r.ledger.Reader, r.store.Client, r.sourcesOf)
	require.Eventually(t, func() bool {
		list, err := d.Items(t.Context(), "integration")
		require.NoError(t, err)
		found = nil
		for _, i := range list {
			var item map[string]any
			require.NoError(t, json.Unmarshal(i.JSON, &item))
			require.Equal(t, i.Key, item["key"])
			found = append(found, item)
		}
		return ready(found)
	}, patience, 20*time.Millisecond)
	return found
}

func TestUnmatchedMessageIsShownMaskedWithItsPossibleCausesAndCanBeAssigned(t *testing.T) {
	o := openOffice(t, "--sms-webhook-secret", smsSecret, "--sms-guard", "1m")
	a, b := newSeller(t, o.a.URL(), "a"), newSeller(t, o.a.URL(), "b")
	first := a.join()
	granted := moment(t, first.json["granted_at"].(string))
	b.join()
	a.leave("")
	second := b.join()
	got := carrier(t, o.a.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다", granted)
	require.JSONEq(t, `{"result":"unmatched","reason":"ambiguous"}`, got.body)

	shown := o.b.items(t, func(list []map[string]any) bool { return len(list) == 1 && list[0]["from"] != "" })[0]
	require.True(t, strings.HasPrefix(shown["key"].(string), "m:"))
	require.Equal(t, "message", shown["kind"])
	require.Equal(t, "m-1", shown["message_id"])
	require.Equal(t, "ambiguous", shown["reason"])
	require.Equal(t, "[쿠팡] 인증번호는 [******] 입니다", shown["text"])
	require.Equal(t, "****-0000", shown["from"])
	require.Equal(t, true, shown["assignable"])
	require.Equal(t, true, shown["code"])
	require.NotNil(t, shown["sent_at"])
	require.Len(t, shown["could"], 2)
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	for _, secret := range []string{"482913", a.session, b.session} {
		require.NotContains(t, string(text), secret)
	}

	kim := newAgent(t, o.a.URL(), "kim")
	body := fmt.Sprintf(`{"message_id":"m-1","fence":%s,"reason":"she read it to me"}`, second.json["fence"])
	requireProblem(t, kim.act("assign", fmt.Sprintf(`{"message_id":"m-1","fence":%d,"reason":"r"}`,
		second.number("fence")+1)), 409, "stale_fence")
	done := kim.mustAct("assign", body)
	require.Equal(t, "matched", done.text("result"))
	require.Equal(t, true, done.json["shown"])
	require.EqualValues(t, 2, done.number("ticket"))
	require.Equal(t, "completed", b.status().me().text("outcome"))
	requireProblem(t, kim.act("assign", body), 409, "already_matched")
	o.b.items(t, func(list []map[string]any) bool { return len(list) == 0 })

	kim.history("?seller="+second.text("seller_id"), func(r reply) bool {
		return len(r.list("messages")) == 1 &&
			strings.Contains(r.body, fmt.Sprintf(`"message_id":"m-1","result":"matched","ticket":2,"fence":%s,`,
				second.json["fence"]))
	})
	require.Regexp(t, `(?m)^message,.*,2,`+second.json["fence"].(json.Number).String()+`,.*,m-1,matched,`,
		kim.ask("GET", "/api/support/integration/history?format=csv", "").body)
}

func TestRefusedMessageIsSentToWatchingAgents(t *testing.T) {
	o := openOffice(t, "--sms-webhook-secret", smsSecret)
	s := newSeller(t, o.a.URL(), "")
	requireProblem(t, s.ask("POST", "/api/integration/sms", `{"text":"인증번호 482913"}`), 401, "bad_signature")
	requireProblem(t, s.ask("POST", "/api/integration/sms", strings.Repeat("x", 16<<10+1)), 413,
		"body_too_large")
	shown := o.b.items(t, func(list []map[string]any) bool { return len(list) == 2 })
	for _, i := range shown {
		require.Equal(t, "incident", i["kind"])
		require.Equal(t, "message_refused", i["incident"])
		require.Contains(t, i["detail"], "1 message was refused: ")
		require.NotContains(t, i["detail"], "*")
	}
}

func TestStoreAndLedgerEachReportTheirPartOfAMessageOnce(t *testing.T) {
	letters := []room.RecentMessage{{MessageID: "m", Text: "new", Result: room.Unmatched, Reason: room.Ambiguous,
		ReceivedAt: 3000, Could: []room.Candidate{{Fence: 9, AskedAt: 5, Live: true}}},
		{Text: "", Result: room.Unmatched, ReceivedAt: 3500}}
	lost := []read.Lost{{Message: history.Message{MessageID: "old", Result: "late", Ticket: 1,
		Fence: 2, ReceivedAt: 1000}, Body: "b", Sender: "s"},
		{Message: history.Message{MessageID: "m", Result: "unmatched", SentAt: 2500, ReceivedAt: 3000},
			Body: "less", Sender: "****-0000"}}
	incidents := []read.Incident{{Kind: "match_refused", Subject: "m", Fence: 9, At: 2000},
		{Kind: "match_refused", Subject: "m", Fence: 8, At: 1500}}
	items, err := itemsOf(messageItems(letters, lost), incidentItems(incidents))
	require.NoError(t, err)
	var keys []string
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	require.Len(t, keys, 4)
	require.Equal(t, []string{"i:match_refused:m", "i:match_refused:m:8"}, keys[1:3],
		"the latest first, and each by a key of its own")
	require.JSONEq(t, `{"key":"`+keys[0]+`","kind":"message","at":3000,"message_id":"m","result":"unmatched","reason":"ambiguous","text":"new",
		"from":"****-0000","sent_at":2500,"code":false,"ticket":0,"fence":0,"offered":false,"assignable":true,
		"could":[{"fence":9,"ticket":0,"seller_id":"","granted_at":0,"ended_at":0,"asked_at":5,"live":true}]}`, string(items[0].JSON))
	require.Contains(t, string(items[3].JSON), `"assignable":false,"could":[]`)

	var many []read.Incident
	for i := range 300 {
		many = append(many, read.Incident{Kind: "k", Subject: fmt.Sprint(i), At: int64(i)})
	}
	items, err = itemsOf(messageItems(letters, lost), incidentItems(many))
	require.NoError(t, err)
	require.Len(t, items, 200)
}

func TestMinutesOfTheLastHourAreSent(t *testing.T) {
	o := openOffice(t)
	newSeller(t, o.a.URL(), "a").join()
	d := newPanels(o.b.engine, o.b.ledger.Reader, o.b.store.Client, o.b.sourcesOf)
	require.Eventually(t, func() bool {
		list, err := d.Minutes(t.Context(), "integration", 0)
		require.NoError(t, err)
		require.InDelta(t, 61, len(list), 1)
		return strings.Contains(string(list[len(list)-1].JSON)+string(list[len(list)-2].JSON), `"granted":1`)
	}, patience, 20*time.Millisecond)
}

func TestDeadDeliveryIsPutBack(t *testing.T) {
	o := openOffice(t, "--webhook-url", "http://127.0.0.1:9/hook", "--webhook-secret", smsSecret)
	kim := newAgent(t, o.a.URL(), "kim")
	_, err := o.a.db.SQL().ExecContext(t.Context(),
		`INSERT INTO outbox_tasks (uid, kind, task_key, payload, state, phase,
		attempts, last_error, created_at, updated_at) VALUES ('evt', 'webhook', 'integration/9', '{"type":"lock.ended"}', 'dead', 'deliver', 9, 'answered 500', 1, 2)`)
	require.NoError(t, err)
	page := kim.ask("GET", "/support/-/deliveries", "")
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.body, "integration/9")
	require.Contains(t, page.body, "lock.ended")
	var id int64
	require.NoError(t, o.a.db.SQL().QueryRowContext(t.Context(),
		`SELECT id FROM outbox_tasks WHERE state = 'dead'`).Scan(&id))
	back := kim.submit(fmt.Sprintf("/support/-/deliveries/%d/retry", id))
	require.Equal(t, http.StatusOK, back.StatusCode, back.body)
	require.Equal(t, fmt.Sprintf("retried=%d", id), back.Request.URL.RawQuery)
	again := kim.ask("POST", fmt.Sprintf("/support/-/deliveries/%d/retry", id), "", "Accept", jsonType)
	requireProblem(t, again, 409, "not_dead")
}
