package sms

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const integration = room.ID("integration")

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// stage has a Redis, a ledger, two replicas, and the sellers a and b; a holds the lock.
type stage struct {
	t      *testing.T
	rdb    *redis.Client
	engine *room.Engine
	ledger *fakeLedger
	one    *replica
	two    *replica
	a, b   string
	lease  *room.Lease // a's
}

// replica is a service with hooks between its steps.
type replica struct {
	*Service
	engine *hookedEngine
	ledger *hookedLedger
}

func newStage(t *testing.T) *stage { return newStageOn(t, redistest.Shared(t)) }

func newStageOn(t *testing.T, rdb *redis.Client) *stage {
	s := &stage{t: t, rdb: rdb, ledger: newFakeLedger()}
	s.engine = room.New(s.rdb, room.Config{Journal: 1000})
	s.one, s.two = s.replica(Config{Completes: true}), s.replica(Config{Completes: true})
	s.a, s.b = room.NewSession(), room.NewSession()
	s.lease = s.join(s.a, "a").Lease
	s.join(s.b, "b")
	return s
}

func (s *stage) replica(c Config) *replica {
	r := &replica{engine: &hookedEngine{Engine: s.engine}, ledger: &hookedLedger{fakeLedger: s.ledger}}
	r.ledger.settle = r.engine.SettleMatch
	c.Engine, c.Ledger, c.Secret = r.engine, r.ledger, testSecret
	var err error
	r.Service, err = New(c)
	require.NoError(s.t, err)
	return r
}

func (s *stage) join(session, seller string) room.Standing {
	s.t.Helper()
	st, err := s.engine.Join(context.Background(), integration,
		room.JoinRequest{Session: session, Seller: seller})
	require.NoError(s.t, err)
	return st
}

func (s *stage) leave(session string) {
	s.t.Helper()
	_, err := s.engine.Leave(context.Background(), integration,
		room.LeaveRequest{Session: session, Outcome: room.Completed})
	require.NoError(s.t, err)
}

// seat returns a session's place, and the messages that it sees.
func (s *stage) seat(session string) room.Seat {
	s.t.Helper()
	_, seats, err := s.engine.Look(context.Background(), integration, session)
	require.NoError(s.t, err)
	return seats[0]
}

func (s *stage) requireShown(session string, texts ...string) {
	s.t.Helper()
	var got []string
	for _, m := range s.seat(session).Messages {
		got = append(got, m.Text)
	}
	require.Equal(s.t, texts, got)
}

// pass waits until Redis's clock is later than a time (unix ms).
func (s *stage) pass(ms int64) {
	for {
		now, err := s.rdb.Time(context.Background()).Result()
		require.NoError(s.t, err)
		if now.UnixMilli() > ms {
			return
		}
		time.Sleep(time.UnixMilli(ms + 1).Sub(now))
	}
}

// drain handles the journal as the ledger does.
func (s *stage) drain() {
	s.t.Helper()
	entries, err := s.engine.ReadJournal(context.Background(), integration, 1000)
	require.NoError(s.t, err)
	for _, entry := range entries {
		for _, r := range entry.Records {
			if r.Type != "message" {
				continue
			}
			_, err := s.ledger.Receive(context.Background(), integration, r.MessageNote)
			require.NoError(s.t, err)
			agreed := s.ledger.record(entry.Epoch, r)
			if r.Judge {
				require.NoError(s.t, s.engine.SettleMatch(context.Background(), integration, r.MessageID, 0, agreed))
			}
		}
	}
	require.NoError(s.t, s.engine.TrimJournal(context.Background(), integration, entries))
}

// send posts a signed message with a sending time in unix ms; 0 = without one.
func (r *replica) send(t testing.TB, id, text string, sent int64) (Answer, error) {
	t.Helper()
	header, body := post(t, id, text, sent)
	return r.Receive(context.Background(), integration, header, body)
}

func post(t testing.TB, id, text string, sent int64) (http.Header, []byte) {
	t.Helper()
	fields := map[string]any{"message_id": id, "from": "1588-0000", "text": text}
	if sent != 0 {
		// a time with a fraction of zeros would count as a whole second
		fields["sent_at"] = room.Time(sent).Add(time.Microsecond).Format(time.RFC3339Nano)
	}
	body, err := json.Marshal(fields)
	require.NoError(t, err)
	return signed(t, testSecret, time.Now(), body), body
}

// must posts a message and requires that it is answered.
func (r *replica) must(t testing.TB, id, text string, sent int64) Answer {
	t.Helper()
	answer, err := r.send(t, id, text, sent)
	require.NoError(t, err)
	return answer
}

func (s *stage) matched() Answer {
	return Answer{Result: room.Matched, Ticket: s.lease.Ticket, Fence: s.lease.Fence}
}

func (s *stage) late() Answer {
	return Answer{Result: room.Late, Ticket: s.lease.Ticket, Fence: s.lease.Fence}
}

var (
	ambiguous = Answer{Result: room.Unmatched, Reason: room.Ambiguous}
	noLease   = Answer{Result: room.Unmatched, Reason: room.NoLease}
)

// errDied is the panic of a replica at the step in which a test lets it die.
var errDied = errors.New("replica died")

func die() { panic(errDied) }

func dies(t testing.TB, f func()) {
	t.Helper()
	require.PanicsWithError(t, errDied.Error(), f)
}

// hookedEngine is an engine that calls a test's functions between the steps.
type hookedEngine struct {
	Engine
	beforeMatch, afterMatch, beforeSettle, afterSettle func()
}

func (h *hookedEngine) Match(ctx context.Context, id room.ID, q room.MatchRequest) (room.Match, error) {
	step(h.beforeMatch)
	m, err := h.Engine.Match(ctx, id, q)
	step(h.afterMatch)
	return m, err
}

func (h *hookedEngine) SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64,
	agreed bool) error {
	step(h.beforeSettle)
	err := h.Engine.SettleMatch(ctx, id, messageID, fence, agreed)
	step(h.afterSettle)
	return err
}

func step(f func()) {
	if f != nil {
		f()
	}
}

// hookedLedger is the replica's connection to the ledger; it can fail after the ledger has done its work.
type hookedLedger struct {
	*fakeLedger
	settle         func(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
	receive, judge func(context.Context) error
}

func (h *hookedLedger) Receive(ctx context.Context, id room.ID, note room.MessageNote) (*room.Match, error) {
	if h.receive != nil {
		if err := h.receive(ctx); err != nil {
			return nil, err
		}
	}
	return h.fakeLedger.Receive(ctx, id, note)
}

// Judge sends the verdict to the room, as the ledger does.
func (h *hookedLedger) Judge(ctx context.Context, id room.ID, epoch int64, r room.Record) (bool, error) {
	if h.judge != nil {
		if err := h.judge(ctx); err != nil {
			return false, err
		}
	}
	agreed, err := h.fakeLedger.Judge(ctx, id, epoch, r)
	if err == nil {
		err = h.settle(ctx, id, r.MessageID, 0, agreed)
	}
	return agreed, err
}

// fakeLedger keeps the contract's constraints in memory.
type fakeLedger struct {
	mu       sync.Mutex
	received map[string]int64
	judged   map[string]*room.Match // the answers to repeats
	verified map[int64]string       // fence → the message that completed it
	notes    []room.MessageNote
	records  []room.Record
}

func newFakeLedger() *fakeLedger {
	return &fakeLedger{received: map[string]int64{}, judged: map[string]*room.Match{},
		verified: map[int64]string{}}
}

func (l *fakeLedger) Receive(_ context.Context, _ room.ID, note room.MessageNote) (*room.Match, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.judged[note.MessageID]; m != nil {
		return m, nil
	}
	if at, ok := l.received[note.MessageID]; ok {
		return &room.Match{At: at}, nil
	}
	l.received[note.MessageID] = note.Received
	l.notes = append(l.notes, note)
	return nil, nil
}

func (l *fakeLedger) Judge(_ context.Context, _ room.ID, epoch int64, r room.Record) (bool, error) {
	return r.Result == room.Matched && l.record(epoch, r), nil
}

// record records a message's result, and reports whether it is the message's first.
func (l *fakeLedger) record(epoch int64, r room.Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.judged[r.MessageID]; m != nil {
		return m.Result == r.Result
	}
	l.records = append(l.records, r)
	m := &room.Match{Result: r.Result, Reason: room.Reason(r.Reason), Ticket: r.Ticket, Fence: r.Fence,
		Epoch: epoch, At: r.At}
	if r.Result == room.Matched && r.Completes && l.verified[r.Fence] != "" {
		m = &room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: epoch, At: r.At}
	} else if r.Result == room.Matched && r.Completes {
		l.verified[r.Fence] = r.MessageID
	}
	l.judged[r.MessageID] = m
	return m.Result == r.Result
}

// refuse makes the ledger refuse a match to a fence, as if another message had completed the lease.
func (l *fakeLedger) refuse(fence int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verified[fence] = "another"
}

func away(context.Context) error { return errors.New("connection refused") }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
