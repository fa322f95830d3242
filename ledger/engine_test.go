package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// dying is an engine whose replica may die before it trims the journal.
type dying struct{ *room.Engine }

func (d dying) TrimJournals(ctx context.Context, journals []room.Journal) []error {
	failed := make([]error, len(journals))
	for i, j := range journals {
		if failed[i] = errLost; rand.IntN(4) > 0 {
			failed[i] = d.TrimJournal(ctx, j.Room, j.Entries)
		}
	}
	return failed
}

// seen has what the clients observed.
type seen struct {
	mu       sync.Mutex
	outcomes map[int64]room.Outcome
	matches  map[string]room.Match
}

// Three replicas use a real engine: sellers join and leave, and messages arrive, two at a time in each room.
func TestTheLedgerHasWhatTheClientsSaw(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rdb := redistest.Start(t).Client()
		engine := room.New(rdb, room.Config{Journal: 100_000})
		var replicas []*ledger.Ledger
		for range 3 {
			c := b.config()
			c.Journal, c.Rooms, c.Now = dying{engine}, engine, time.Now
			replicas = append(replicas, b.openWith(t, c))
		}
		saw := &seen{outcomes: map[int64]room.Outcome{}, matches: map[string]room.Match{}}
		moved := make(chan struct{}, 100)
		var drains, sellers sync.WaitGroup
		for _, l := range replicas {
			drains.Go(func() {
				for range moved {
					_ = l.Drain(t.Context(), here)
				}
			})
		}
		const perSeller = 10
		for n := range 4 {
			sellers.Go(func() {
				for turn := range perSeller {
					saw.turn(t, engine, replicas[turn%3], fmt.Sprintf("s-%d", n), fmt.Sprintf("m-%d-%d", n, turn))
					moved <- struct{}{}
				}
			})
		}
		sellers.Wait()
		close(moved)
		drains.Wait()
		l := b.openWith(t, func() ledger.Config {
			c := b.config()
			c.Journal, c.Rooms = engine,
				engine
			return c
		}())
		require.NoError(t, l.Drain(t.Context(), here))

		require.Len(t, saw.outcomes, 4*perSeller)
		require.Equal(t, len(saw.outcomes), count(t, l, "places"))
		for ticket, outcome := range saw.outcomes {
			require.Equal(t, []string{string(outcome)}, column(t, l.DB(), fmt.Sprintf(
				`SELECT outcome FROM places WHERE ticket = %d`, ticket)), "ticket %d", ticket)
		}
		require.Equal(t, len(saw.matches), count(t, l, "messages WHERE state = 'judged'"))
		for id, m := range saw.matches {
			require.Equal(t, []string{fmt.Sprint(m.Result, " ", m.Fence)}, column(t, l.DB(), fmt.Sprintf(
				`SELECT result || ' ' || fence FROM messages WHERE message_id = '%s'`, id)))
		}
		require.Zero(t, count(t, l, "leases WHERE outcome IS NULL"))
		require.Zero(t, count(t, l, "incidents"))
		require.Zero(t, count(t, l, "parked"))
		require.Equal(t, count(t, l, "verifications"), count(t, l, "messages WHERE result = 'matched'"))
	})
}

// turn lets a seller join, and leave or be completed by a message.
func (s *seen) turn(t *testing.T, e *room.Engine, l *ledger.Ledger, seller, message string) {
	session := room.NewSession()
	st, err := e.Join(t.Context(), here, room.JoinRequest{Session: session, Seller: seller})
	if err != nil {
		t.Errorf("join: %v", err)
		return
	}
	if st.Status == room.Locked && rand.IntN(2) == 0 {
		s.message(t, e, l, message)
	}
	after, err := e.Leave(t.Context(), here, room.LeaveRequest{Session: session, Outcome: room.Cancelled})
	if err != nil { // a message has completed it, this one or another's
		after, err = e.Stand(t.Context(), here, session)
	}
	if err != nil || after.Status != room.Ended {
		t.Errorf("end: %v %+v", err, after.Place)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[st.Ticket] = after.Outcome
}

func (s *seen) message(t *testing.T, e *room.Engine, l *ledger.Ledger, id string) {
	note := room.MessageNote{MessageID: id, Text: "code ****"}
	if _, err := l.Receive(t.Context(), here, note); err != nil {
		t.Errorf("receive: %v", err)
	}
	m, err := e.Match(t.Context(), here, room.MatchRequest{MessageID: id, Note: note,
		Shown: room.Message{Text: "code 482913 " + id, Code: new("482913")}})
	if err != nil {
		t.Errorf("match: %v", err)
		return
	}
	if m.Judge {
		agreed, err := l.Judge(t.Context(), here, m.Epoch,
			room.Record{Type: "message", MessageNote: note, Result: m.Result,
				Ticket: m.Ticket, Fence: m.Fence, GrantedAt: m.Granted, EndedAt: m.Ended, At: m.At, Judge: true,
				Completes: m.Completes})
		if err != nil && !errors.Is(err, errLost) || err == nil && !agreed {
			t.Errorf("judge: %v %v", agreed, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches[id] = m
}

func TestARestartedStoreLeavesNothingOpen(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		server := redistest.Start(t)
		engine := room.New(server.Client(), room.Config{Journal: 1000})
		c := b.config()
		c.Journal, c.Rooms = engine, engine
		l := b.openWith(t, c)
		for n := range 3 {
			_, err := engine.Join(t.Context(), here,
				room.JoinRequest{Session: room.NewSession(), Seller: fmt.Sprintf("s-%d", n)})
			require.NoError(t, err)
		}
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Reconcile(t.Context()))
		require.Equal(t, 3, count(t, l, "places WHERE outcome IS NULL"))
		server.Restart()
		require.NoError(t, server.Client().Ping(t.Context()).Err())
		c.Rooms = room.New(server.Client(), room.Config{Journal: 1000}) // a process that knew nothing of the room
		require.NoError(t, b.openWith(t, c).Reconcile(t.Context()))
		require.Equal(t, 3, count(t, l, "places WHERE outcome = 'lost'"))
		require.Equal(t, 1, count(t, l, "leases WHERE outcome = 'lost'"))
	})
}

func TestAnUnreadableJournalEntryIsParked(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rdb := redistest.Start(t).Client()
		engine := room.New(rdb, room.Config{Journal: 1000})
		c := b.config()
		c.Journal, c.Rooms = engine, engine
		l := b.openWith(t, c)
		require.NoError(t, rdb.Do(t.Context(), "XADD", room.Names{}.Journal(here), "*", "epoch", "1", "records",
			"{nonsense").Err())
		_, err := engine.Join(t.Context(), here, room.JoinRequest{Session: room.NewSession(), Seller: "s-1"})
		require.NoError(t, err)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 1, count(t, l, "parked"))
		require.Equal(t, 1, count(t, l, "places"))
		require.Zero(t, rdb.XLen(t.Context(), room.Names{}.Journal(here)).Val())
	})
}
