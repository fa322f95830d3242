package room_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

const barrier = "that is all"

// listen subscribes to the room. The function that it returns returns the events since its last call.
func listen(t require.TestingT, rdb redis.UniversalClient) func() []room.Event {
	sub := rdb.Subscribe(context.Background(), room.NamesOf(rdb, "").Events(integration))
	if t, ok := t.(*testing.T); ok {
		t.Cleanup(func() { _ = sub.Close() })
	}
	_, err := sub.Receive(context.Background())
	require.NoError(t, err)
	return func() (events []room.Event) {
		require.NoError(t, rdb.Publish(context.Background(), room.NamesOf(rdb, "").Events(integration),
			barrier).Err())
		for {
			msg, err := sub.ReceiveMessage(context.Background())
			require.NoError(t, err)
			if msg.Payload == barrier {
				return events
			}
			event, err := room.ParseEvent(msg.Payload)
			require.NoError(t, err)
			events = append(events, event)
		}
	}
}

func notes(events []room.Event) (list []room.Note) {
	for _, e := range events {
		list = append(list, e.Notes...)
	}
	return list
}

// looks counts the events that make support's pages load the room's messages again.
func looks(events []room.Event) (n int) {
	for _, note := range notes(events) {
		if note.Desk {
			n++
		}
	}
	return n
}

func (d *desk) recent() []room.RecentMessage {
	d.Helper()
	recent, err := d.engine.RecentMessages(d.Context(), integration)
	require.NoError(d, err)
	return recent
}

func (d *desk) active() []room.ID {
	d.Helper()
	list, err := d.engine.Active(d.Context())
	require.NoError(d, err)
	return list
}

// sleep drains the journal and sweeps until the room is asleep and out of the index.
func (d *desk) sleep() {
	d.Helper()
	entries, err := d.engine.ReadJournal(d.Context(), integration, 10_000)
	require.NoError(d, err)
	require.NoError(d, d.engine.TrimJournal(d.Context(), integration, entries))
	checked, err := d.engine.Expire(d.Context(), integration)
	require.NoError(d, err)
	require.True(d, checked.Asleep)
	d.store.ZRem("{waitroom}:due", string(integration))
	d.pass(time.Millisecond) // a call that registers in the instant of falling asleep has to retry
}

// recorder keeps all replies of scripts.
type recorder struct {
	redis.Hook
	mu      sync.Mutex
	replies strings.Builder
}

func (r *recorder) DialHook(next redis.DialHook) redis.DialHook { return next }
func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if c, ok := cmd.(*redis.Cmd); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			_, _ = fmt.Fprintln(&r.replies, c.Val())
		}
		return err
	}
}

// A session is a credential. No data for support's pages has one, in any state of the room.
func TestNoSessionIsInDataForSupport(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		var all []seller
		join := func(name string) seller {
			s := newSeller(t, e, name)
			_, err := e.Join(t.Context(), integration,
				room.JoinRequest{Session: s.session, Seller: name, Asks: true})
			require.NoError(t, err)
			all = append(all, s)
			return s
		}
		for i := range 5 {
			s := join(fmt.Sprint("s", i))
			if i == 0 {
				s.expectOnly("쿠팡")
				s.leave(room.Cancelled)
			}
		}
		all[4].gone()
		match(t, e, sms("offered", 0, 0))
		match(t, e, func() room.MatchRequest { q := sms("foreign", 0, 0); q.Foreign = true; return q }())

		replies := &recorder{}
		rdb.AddHook(replies)
		roster, err := e.Roster(t.Context(), integration)
		require.NoError(t, err)
		require.Len(t, roster.Line, 3)
		glance, err := e.Glance(t.Context(), integration)
		require.NoError(t, err)
		require.Len(t, glance.Grants, 2)
		recent, err := e.RecentMessages(t.Context(), integration)
		require.NoError(t, err)
		require.Len(t, recent, 2)
		text := replies.replies.String()
		require.Contains(t, text, "s3")
		for _, s := range all {
			require.NotContains(t, text, s.session)
		}
	})
}

func TestSupportsPagesLoadAgainWhenMessagesOrIncidentsChange(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	events := listen(t, d.rdb)
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"a message is unmatched", func() { d.stray() }, 1},
		{"one is matched: an unmatched one may be the same", func() { a.expect(); d.sms() }, 1},
		{"the same again", func() {
			match(t, d.engine, sms("m2", d.now.UnixMilli(), d.now.UnixMilli()+1))
		}, 0},
		{"its holder rejects it", func() {
			require.NoError(t,
				d.engine.Reject(t.Context(), integration, a.session, d.records("granted")[0].Fence, "m2"))
		}, 1},
		{"one comes late", func() { _, m := d.sms(); require.Equal(t, room.Late, m.Result) }, 1},
		{"an unmatched one is offered and claimed", func() {
			d.pass(31 * time.Second)
			_, err := b.claim(d.stray())
			require.NoError(t, err)
		}, 2},
		{"and agreed to", func() { d.settle("m4", true) }, 0},
		{"and refused", func() { d.settle("m4", false) }, 1},
		{"and refused once more", func() { d.settle("m4", false) }, 0},
		{"one is assigned", func() { d.assigned("m4", d.records("granted")[1].Fence) }, 1},
		{"an assignment is not possible", func() { _, _ = d.assign("m4", 1) }, 0},
		{"an incident", func() {
			require.NoError(t, d.engine.Incident(t.Context(), integration, "k", "s", "d"))
		}, 1},
		{"an alert", func() { require.NoError(t, d.engine.Alert(t.Context(), integration)) }, 1},
		{"support did something elsewhere", func() {
			require.NoError(t, d.engine.Audit(t.Context(), integration, byKim))
		}, 0},
		{"a session joins", func() { d.asker("c") }, 0},
	} {
		step.do()
		require.Equal(t, step.want, looks(events()), step.name)
	}
}

// An event that has only notes (see Note) has the version of the event before it.
func TestNoteChangesNoVersion(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		version := newSeller(t, e, "a").join().Version
		events := listen(t, rdb)
		require.NoError(t, e.Alert(t.Context(), integration))
		require.NoError(t, e.Incident(t.Context(), integration, "kind", "subject", "detail"))
		published := events()
		require.Len(t, published, 2)
		for _, event := range published {
			require.False(t, event.Changed)
			require.Equal(t, version, event.Version)
			require.Equal(t, "a", event.Lease.Seller)
			require.Equal(t, []room.Note{{Desk: true}}, event.Notes)
		}
	})
}
