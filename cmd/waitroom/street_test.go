package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
)

const leaseLength = time.Second

// street is rooms full of sellers, and the carrier that brings their messages.
type street struct {
	t       *testing.T
	seed    uint64
	fleet   *fleet
	carrier *carrier
	book    *book
	rdb     *redis.Client
	db      *sql.DB
	rooms   []string
	sellers []*seller
	over    atomic.Bool // no seller comes again
	ended   chan error
}

// manners are the kinds of sellers in each room: in the first all ask, in the second none does, the third has
// all kinds, the others two.
var manners = [][]manner{{asks}, {plain}, {asks, asks, asks, calls, plain, promises}, {asks, calls},
	{asks, plain}}

// openStreet starts replicas on a database; the last room has one seller, the others four.
func openStreet(t *testing.T, replicas, rooms int, databaseURL string, args ...string) *street {
	t.Helper()
	store := redistest.Start(t)
	s := &street{t: t, seed: seed(t), book: &book{}, rdb: store.Client(),
		db: openDatabase(t, "pgx", databaseURL), ended: make(chan error, 1)}
	s.fleet = startFleet(t, replicas,
		append([]string{"--redis-url", store.URL(), "--database-url", databaseURL, "--rooms", "r:*",
			"--lease", leaseLength.String(), "--sms-webhook-secret", smsSecret, "--sms-quarantine",
			quarantine.String(), "--rate-limit", "0", "--places-per-ip", "0", "--sockets-per-ip", "0", "--log-level",
			"warn"}, args...)...)
	var err error
	s.carrier, err = newCarrier(s.fleet)
	require.NoError(t, err)
	s.carrier.drift = rand.New(rand.NewPCG(s.seed, 1<<33)).Float64()
	for i := range rooms {
		s.rooms = append(s.rooms, fmt.Sprint("r:", i))
	}
	return s
}

// seed makes the sellers' choices; WAITROOM_TEST_SEED repeats those of another run.
func seed(t *testing.T) uint64 {
	n, err := strconv.ParseUint(os.Getenv("WAITROOM_TEST_SEED"), 10, 64)
	if err != nil {
		n = rand.Uint64()
	}
	t.Logf("WAITROOM_TEST_SEED=%d", n)
	return n
}

// fill lets sellers come and go until `over` is set; it closes `ended` when all have gone.
func (s *street) fill(ctx context.Context) {
	var group errgroup.Group
	for i, id := range s.rooms {
		members, pace := 4, newPace()
		if i == len(s.rooms)-1 {
			members = 1
		}
		group.Go(func() error { return s.inhabit(ctx, id, i, members, pace) })
	}
	go func() { s.ended <- group.Wait() }()
}

// inhabit runs one room from its first seller to its last message.
func (s *street) inhabit(ctx context.Context, id string, n, members int, pace *pace) error {
	var sellers, post, sockets errgroup.Group
	post.Go(func() error { // an unasked one, before any lease
		m := s.carrier.write(id, time.Now().Add(-time.Hour), milliseconds)
		return s.carrier.deliver(ctx, m, route{twins: true, again: true}, pace)
	})
	listening, hangUp := context.WithCancel(ctx)
	defer hangUp()
	for i := range members {
		x := &seller{fleet: s.fleet, carrier: s.carrier, book: s.book, pace: pace, post: &post, room: id,
			session: room.NewSession(),
			manners: manners[n%len(manners)],
			name:    fmt.Sprintf("s%d-%d", n, i), rng: rand.New(rand.NewPCG(s.seed, uint64(n*100+i)))}
		if i%2 == 0 {
			x.socket = newSocket(s.fleet, id, x.session)
			sockets.Go(func() error { return x.socket.listen(listening) })
		}
		s.book.mu.Lock()
		s.sellers = append(s.sellers, x)
		s.book.mu.Unlock()
		sellers.Go(func() error {
			for !s.over.Load() {
				if err := x.stay(ctx); err != nil {
					return fmt.Errorf("%s: %w", x.name, err)
				}
			}
			return nil
		})
	}
	err := sellers.Wait()
	pace.finish()
	for _, wait := range []func() error{post.Wait, func() error { hangUp(); return sockets.Wait() }} {
		if failed := wait(); err == nil {
			err = failed
		}
	}
	return err
}

// close lets all sellers finish and waits for the ledger.
func (s *street) close() {
	s.t.Helper()
	s.over.Store(true)
	require.NoError(s.t, <-s.ended)
	awaitLedger(s.t, s.rdb, s.db, s.rooms...)
}

// check compares the clients' view, the answers to messages, and the ledger.
func (s *street) check() (*accounts, astray) {
	ledger := readLedger(s.t, s.db)
	stays, messages := ledger.complete(s.book.stays), s.carrier.messages
	all := histories(stays)
	for _, h := range all {
		h.inOrder()
	}
	wrong := ledger.compare(stays)
	x := follow(all, ledger.events, messages)
	wrong = append(wrong, x.wrong...)
	wrong = append(wrong, ledger.compareMessages(messages, x)...)
	wrong = append(wrong, x.busy(stays)...)
	truth := x.truth(all, messages)
	wrong = append(wrong, truth.wrong...)
	wrong = append(wrong, s.shown(all, x)...)

	s.t.Logf("%d leases, %d places: %v; %d messages: %v; %d of them certain, %d of those nobody's out of "+
		"caution; %d that a clock behind may be the cause of; %d requests repeated", len(ledger.leases), len(
		ledger.places),
		outcomes(stays), len(messages), results(messages), x.certain, x.cautious, x.clock, s.fleet.failed.Load())
	s.t.Log(truth)
	require.Empty(s.t, wrong, "%d faults", len(wrong))
	// A call that a busy machine makes slow leaves open when its message was sent, and so whose it is.
	require.Greater(s.t, 4*x.certain, 3*len(messages), "it is not known where too many messages belong")
	require.Zero(s.t, count(s.t, s.db, `SELECT COUNT(*) FROM parked`))
	require.Equal(s.t, len(ledger.leases),
		count(s.t, s.db, `SELECT COUNT(*) FROM timeline WHERE kind = 'granted'`))
	require.Equal(s.t, len(messages), count(s.t, s.db, `SELECT COUNT(*) FROM timeline WHERE kind = 'message'`))
	s.checkIncidents(x)
	return x, truth
}

// checkIncidents requires one incident for each repeated id and for each message by which the carrier's clock
// may be behind. There are no others, since no match was refused.
func (s *street) checkIncidents(x *accounts) {
	s.t.Helper()
	want, got := []string{}, []string{}
	require.NoError(s.t, rows(s.t.Context(), s.db, `SELECT kind, subject FROM incidents`,
		func(scan func(...any) error) error {
			var kind, subject string
			err := scan(&kind, &subject)
			if !strings.HasPrefix(subject, "sms/") { // of the carrier as such: its clock is off
				got = append(got, kind+" "+subject)
			}
			return err
		}))
	for _, m := range s.carrier.messages {
		if m.reused {
			want = append(want, "message_id_reused "+m.id)
		}
		name := "carrier_clock " + m.id
		// A message that is unmatched in both may be so for the clock as well: package room tests those
		// rules.
		j := x.judged(m)
		maybe := j != nil && slices.Contains(got, name) && (j.unsure || !m.answer.attributed())
		if maybe || j != nil && j.clock && !j.unsure {
			want = append(want, name)
		}
	}
	require.ElementsMatch(s.t, want, got)
}

func results(messages []*message) map[string]int {
	n := map[string]int{}
	for _, m := range messages {
		n[strings.TrimSpace(m.answer.Result+" "+m.answer.Reason)]++
		if m.answer.Duplicate {
			n["duplicate"]++
		}
	}
	return n
}

func outcomes(stays []*stay) map[string]int {
	n := map[string]int{}
	for _, p := range stays {
		n[p.outcome]++
		for _, r := range p.requests {
			switch {
			case r.until != 0:
				n["number_busy"]++
			case r.number != 0:
				n["asks"]++
			}
		}
	}
	return n
}

// turn is one lease of a session. A message is shown during its own turn and during no later one.
type turn struct {
	session string
	fence   int64
}

// shown returns the messages that another session than the lease's saw, and those that their own session did
// not see. A session sees a message only in the message's own turn, or later if it came late.
func (s *street) shown(all map[string]history, x *accounts) (wrong []string) {
	owners := map[string][]string{} // code → sessions
	want, late := map[turn][]string{}, map[string][]string{}
	for _, m := range s.carrier.messages {
		p := all[m.room][m.answer.Fence]
		if !m.answer.attributed() || p == nil {
			continue
		}
		owners[m.code] = append(owners[m.code], p.session)
		switch j := x.judged(m); {
		case j == nil || j.repeats: // it has been shown already
		case m.answer.Result == "late":
			late[p.session] = append(late[p.session], m.id)
		default:
			its := turn{p.session, m.answer.Fence}
			want[its] = append(want[its], m.id)
		}
	}
	engine := s.engine()
	for _, x := range s.sellers {
		_, seats, err := engine.Look(s.t.Context(), room.ID(x.room), x.session)
		require.NoError(s.t, err)
		var got []string
		for _, m := range seats[0].Messages {
			got = append(got, m.MessageID)
		}
		wants := slices.Concat(want[turn{x.session, seats[0].Fence}], late[x.session])
		slices.Sort(got)
		slices.Sort(wants)
		if !slices.Equal(got, wants) {
			wrong = append(wrong, fmt.Sprintf("%s in %s is shown %v, not %v", x.name, x.room, got, wants))
		}
		if x.socket == nil {
			continue
		}
		for _, code := range x.socket.shown() {
			if code != "" && !slices.Contains(owners[code], x.session) {
				wrong = append(wrong, fmt.Sprintf("%s in %s was sent %s, which is another's", x.name, x.room, code))
			}
		}
	}
	return wrong
}

// engine returns an engine that can read what the replicas sealed.
func (s *street) engine() *room.Engine {
	keys, err := sms.Keys(smsSecret)
	require.NoError(s.t, err)
	return room.New(s.rdb, room.Config{Lease: leaseLength, Keys: seal.NewKeyring(keys...)})
}
