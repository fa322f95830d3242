package sms

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// manySource returns several messages, and faults beside them.
type manySource struct {
	posts  []Post
	fault  error
	verify error
}

func (m *manySource) Verify(Request) error          { return m.verify }
func (m *manySource) Parse(Request) ([]Post, error) { return m.posts, m.fault }

func TestEachMessageOfARequestHasItsAnswer(t *testing.T) {
	s := newStage(t)
	source := &manySource{fault: FaultLacks("text"), posts: []Post{
		{ID: "1", From: "1588-0000", Text: NewSecret("배송 안내")},
		{ID: "2", From: "1588-0000"}, // no text
		{ID: "3", From: "1588-0000", Text: NewSecret("인증번호 482913"), SentAt: at(s.lease.GrantedAt)}}}
	r := s.replica(Config{Completes: true, Source: func(room.ID, string) Source { return source }})
	for range 2 {
		answers, err := r.ReceiveFrom(t.Context(), integration, "phone", Request{})
		require.NoError(t, err, "what can not be read takes nothing from the others")
		require.Equal(t, []Answer{s.matched(), s.matched()}, answers)
	}
	require.Equal(t, room.Ended, s.seat(s.a).Status)
	source.posts = source.posts[1:2]
	_, err := r.ReceiveFrom(t.Context(), integration, "phone", Request{})
	require.ErrorIs(t, err, ErrInvalidMessage)
}

func TestEventThatIsNoMessageIsCountedByItsName(t *testing.T) {
	s, _ := newDeskService(t)
	source := &manySource{}
	s.Source = func(room.ID, string) Source { return source }
	var heard []Heard
	s.Heard = func(_ context.Context, _ room.ID, h Heard) { heard = append(heard, h) }
	for _, name := range []string{"sms:sent", "sms:sent", "", "인증번호 482913", strings.Repeat("x", 41)} {
		source.fault = Ignored(name)
		_, err := s.ReceiveFrom(t.Context(), integration, "phone", Request{})
		require.ErrorIs(t, err, ErrIgnored)
	}
	require.Equal(t, []Heard{{Source: "phone", Event: "sms:sent"}, {Source: "phone", Event: "sms:sent"},
		{Source: "phone", Event: "none"}, {Source: "phone", Event: "other"},
		{Source: "phone", Event: "other"}}, heard)
	require.Equal(t, map[string]float64{"phone sms:sent": 2, "phone none": 1, "phone other": 2}, events(t, s))
	for i := range mostEvents + 10 {
		source.fault = Ignored(fmt.Sprint("event-", i))
		_, _ = s.ReceiveFrom(t.Context(), integration, "phone", Request{})
	}
	require.Len(t, events(t, s), mostEvents, "a source makes no endless number of series")
}

// numbered is three rooms: two numbers of one phone, of which one is known by its card alone, and a third
// whose source has another secret.
func numbered(own, other Source) func(string) []NumberedRoom {
	return func(name string) []NumberedRoom {
		if name != "phone" {
			return nil
		}
		return []NumberedRoom{{ID: "a", Source: own, Phone: "010-1111-1111", SIM: "1"},
			{ID: "b", Source: own, SIM: "2"}, {ID: "c", Source: other, Phone: "010-3333-3333"}}
	}
}

func TestMessageWithoutARoomReachesTheOneWithItsNumber(t *testing.T) {
	s := newStage(t)
	source, other := &manySource{}, &manySource{verify: ErrSignature}
	rooms := numbered(source, other)
	r := s.replica(Config{Completes: true, Numbered: rooms, Phone: func(id room.ID) string {
		for _, one := range rooms("phone") {
			if one.ID == id {
				return one.Phone
			}
		}
		return ""
	}})
	n := 0
	send := func(p Post) (room.ID, Answer) {
		n++
		p.ID, p.Text = fmt.Sprint("m", n), NewSecret(fmt.Sprint("안내 ", n))
		source.posts = []Post{p}
		answers, err := r.ReceiveAny(t.Context(), "phone", Request{})
		require.NoError(t, err)
		require.Len(t, answers, 1)
		return s.roomOf(p.ID, "a", "b", "c"), answers[0]
	}
	free := Answer{Result: room.Unmatched, Reason: room.NoLease}
	wrong := Answer{Result: room.Unmatched, Reason: room.WrongNumber}
	for _, tt := range []struct {
		name   string
		post   Post
		to     room.ID
		answer Answer
	}{
		{"its number", Post{To: "+821011111111", SIM: "2"}, "a", free},
		{"its card", Post{SIM: "SIM2_KT"}, "b", free},
		{"a number that no room has, by its card", Post{To: "+821022222222", SIM: "2"}, "b", free},
		{"the card of a room with another number", Post{To: "+821022222222", SIM: "1"}, "", wrong},
		{"neither", Post{}, "", wrong},
		{"a room with another secret", Post{To: "010-3333-3333"}, "", wrong},
	} {
		to, answer := send(tt.post)
		require.Equal(t, tt.to, to, tt.name)
		require.Equal(t, tt.answer, answer, tt.name)
	}
	_, err := r.ReceiveAny(t.Context(), "other", Request{})
	require.ErrorIs(t, err, ErrUnknownSource)
	source.verify = ErrSignature
	_, err = r.ReceiveAny(t.Context(), "phone", Request{})
	require.ErrorIs(t, err, ErrSignature)
	other.verify, other.posts = nil, []Post{{ID: "c1", To: "010-3333-3333", Text: NewSecret("안내")}}
	_, err = r.ReceiveAny(t.Context(), "phone", Request{})
	require.NoError(t, err)
	require.Equal(t, room.ID("c"), s.roomOf("c1", "a", "b", "c"))
}

// roomOf returns the room in whose journal a message is; "" for none.
func (s *stage) roomOf(message string, rooms ...room.ID) (of room.ID) {
	s.t.Helper()
	for _, id := range rooms {
		entries, err := s.engine.ReadJournal(s.t.Context(), id, 1000)
		require.NoError(s.t, err)
		for _, entry := range entries {
			for _, r := range entry.Records {
				if r.MessageID == message {
					require.Empty(s.t, of, "a message is in two rooms")
					of = id
				}
			}
		}
	}
	return of
}

func TestSupportSeesAMessageThatReachedNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		source := &manySource{posts: []Post{{To: "010-9999-1234", Text: NewSecret("인증번호 482913")}}}
		s.Numbered = numbered(source, source)
		_, err := s.ReceiveAny(t.Context(), "phone", Request{})
		require.NoError(t, err)
		require.Len(t, engine.heard(), 1)
		require.Contains(t, engine.heard()[0], "a message_refused no_room/")
		require.Contains(t, engine.heard()[0], "1 message was refused: no_room. It was sent to ***-****-1234, "+
			"which no room has as its phone")
		s.Numbered = func(string) []NumberedRoom {
			return []NumberedRoom{{ID: "x", Source: source, Phone: "01099991234"},
				{ID: "y", Source: source, Phone: "010 9999 1234"}}
		}
		_, err = s.ReceiveAny(t.Context(), "phone", Request{})
		require.NoError(t, err)
		require.Len(t, engine.heard(), 3, "both rooms with the number")
		require.Contains(t, engine.heard()[1]+engine.heard()[2], "which 2 rooms have")
		require.Equal(t, map[string]float64{"no_room": 2}, counted(t, s))
		time.Sleep(time.Minute)
	})
}

func TestOtherCardThanTheRoomsIsAnotherNumber(t *testing.T) {
	s := newStage(t)
	source := &manySource{}
	r := s.replica(Config{Completes: true, Source: func(room.ID, string) Source { return source },
		SIM: func(room.ID, string) string { return "1" }, Phone: func(room.ID) string { return "010-1111-1111" }})
	send := func(p Post) Answer {
		p.Text = NewSecret(smsText)
		source.posts = []Post{p}
		answers, err := r.ReceiveFrom(t.Context(), integration, "phone", Request{})
		require.NoError(t, err)
		return answers[0]
	}
	wrong := Answer{Result: room.Unmatched, Reason: room.WrongNumber}
	require.Equal(t, wrong, send(Post{ID: "1", SIM: "2"}))
	require.Equal(t, wrong, send(Post{ID: "2", SIM: "1", To: "010-2222-2222"}), "the number tells")
	require.Equal(t, s.matched(), send(Post{ID: "3", SIM: "SIM1"}))
}

func TestRepeatOfARequestThatWasCutOffHasEachMessageOnce(t *testing.T) {
	s := newStage(t)
	source := &manySource{posts: []Post{{ID: "1", Text: NewSecret("안내 1")}, {ID: "2", Text: NewSecret("안내 2")}}}
	r := s.replica(Config{Completes: true, Source: func(room.ID, string) Source { return source }})
	calls := 0
	r.engine.afterMatch = func() { calls++ }
	r.engine.beforeMatch = func() {
		if calls == 1 {
			panic(errDied)
		}
	}
	dies(t, func() { _, _ = r.ReceiveFrom(t.Context(), integration, "phone", Request{}) })
	r.engine.beforeMatch = nil
	answers, err := r.ReceiveFrom(t.Context(), integration, "phone", Request{})
	require.NoError(t, err)
	require.Len(t, answers, 2, "a repeat has all of them, once")
	require.Len(t, s.ledger.notes, 2)
}

// events returns waitroom_sms_events_total by source and event.
func events(t *testing.T, s *Service) map[string]float64 {
	t.Helper()
	all := prometheus.NewRegistry()
	all.MustRegister(s.metrics.events)
	families, err := all.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		counts[labels["source"]+" "+labels["event"]] = m.GetCounter().GetValue()
	}
	return counts
}
