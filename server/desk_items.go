package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// messageItem is an unmatched or late message. Times are unix ms.
type messageItem struct {
	Key        string          `json:"key"`
	Kind       string          `json:"kind"`
	At         int64           `json:"at"`
	MessageID  string          `json:"message_id"`
	Result     room.Result     `json:"result"`
	Reason     room.Reason     `json:"reason"`
	Text       string          `json:"text"` // masked
	From       string          `json:"from"` // masked
	SentAt     *int64          `json:"sent_at"`
	Code       bool            `json:"code"`
	Ticket     int64           `json:"ticket"`
	Fence      int64           `json:"fence"`
	Offered    bool            `json:"offered"`
	Assignable bool            `json:"assignable"`
	Could      []candidateItem `json:"could"`
}

// candidateItem is a lease that may have caused a message.
type candidateItem struct {
	Fence     int64  `json:"fence"`
	Ticket    int64  `json:"ticket"`
	Seller    string `json:"seller_id"`
	GrantedAt int64  `json:"granted_at"`
	EndedAt   int64  `json:"ended_at"`
	AskedAt   int64  `json:"asked_at"`
	Live      bool   `json:"live"`
}

// incidentItem is an event that a person should look at, such as a source's clock that is off. At is in unix
// ms.
type incidentItem struct {
	Key      string `json:"key"`
	Kind     string `json:"kind"`
	At       int64  `json:"at"`
	Incident string `json:"incident"`
	Ticket   int64  `json:"ticket"`
	Fence    int64  `json:"fence"`
	Subject  string `json:"subject"`
	Detail   string `json:"detail"`
}

// messageItems merges the store's messages, which are newer, with the ledger's, which are more.
func messageItems(letters []room.RecentMessage, lost []read.Lost) []messageItem {
	items := make([]messageItem, 0, len(letters)+len(lost))
	known := make(map[string]int, len(letters))
	for _, l := range letters {
		if l.MessageID == "" { // sealed with an unknown secret: the ledger has it
			continue
		}
		known[l.MessageID] = len(items)
		items = append(items, letterItem(l))
	}
	for _, l := range lost {
		i, ok := known[l.MessageID]
		if !ok {
			i = len(items)
			items = append(items, lostItem(l))
		}
		items[i].From = l.Sender
		if l.SentAt != 0 {
			items[i].SentAt = new(int64(l.SentAt))
		}
	}
	return items
}

func letterItem(l room.RecentMessage) messageItem {
	m := messageItem{At: l.ReceivedAt, MessageID: l.MessageID, Result: l.Result, Reason: l.Reason,
		Text: l.Text, Code: l.Code,
		Ticket: l.Ticket, Fence: l.Fence, Offered: l.Offered, Could: []candidateItem{}}
	for _, c := range l.Could {
		m.Could = append(m.Could, candidateItem(c))
	}
	return m.finished()
}

func lostItem(l read.Lost) messageItem {
	m := messageItem{At: int64(l.ReceivedAt), MessageID: l.MessageID, Result: room.Result(l.Result),
		Reason: room.Reason(l.Reason), Text: l.Body, Code: l.Code, Ticket: int64(l.Ticket),
		Fence: int64(l.Fence), Could: []candidateItem{}}
	for _, c := range l.Could {
		m.Could = append(m.Could, candidateItem{Fence: c.Fence, Ticket: c.Ticket, Seller: c.Seller,
			GrantedAt: int64(c.GrantedAt), EndedAt: int64(c.EndedAt), Live: c.Outcome == ""})
	}
	return m.finished()
}

// finished fills in the derived fields. The key is a digest: an id is the carrier's text.
func (m messageItem) finished() messageItem {
	sum := sha256.Sum256([]byte(m.MessageID))
	m.Key, m.Kind = "m:"+hex.EncodeToString(sum[:16]), "message"
	m.Assignable = m.Result == room.Unmatched && m.Reason != room.WrongNumber && len(m.Could) > 0
	return m
}

// incidentItems gives each incident a key of its own: one kind and subject may concern several leases.
func incidentItems(incidents []read.Incident) []incidentItem {
	items := make([]incidentItem, 0, len(incidents))
	used := make(map[string]bool, len(incidents))
	for _, i := range incidents {
		key := "i:" + i.Kind + ":" + i.Subject
		if used[key] {
			key += fmt.Sprint(":", i.Fence)
		}
		used[key] = true
		items = append(items, incidentItem{Key: key, Kind: "incident", At: i.At, Incident: i.Kind,
			Ticket: i.Ticket, Fence: i.Fence,
			Subject: i.Subject, Detail: i.Detail})
	}
	return items
}

// itemsOf merges both kinds, latest first.
func itemsOf(messages []messageItem, incidents []incidentItem) ([]desk.Item, error) {
	type dated struct {
		at   int64
		key  string
		item any
	}
	all := make([]dated, 0, len(messages)+len(incidents))
	for _, m := range messages {
		all = append(all, dated{m.At, m.Key, m})
	}
	for _, i := range incidents {
		all = append(all, dated{i.At, i.Key, i})
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(b.at, a.at) })
	var items []desk.Item
	for _, d := range all[:min(len(all), mostItems)] {
		item, err := itemOf(d.key, d.item)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
