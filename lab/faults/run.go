package faults

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

const (
	playsFor     = 2 * time.Minute // the steps of any plan
	leavesWithin = 20 * time.Second
	awayAfter    = 5 * time.Second
	quarantine   = time.Second
	prefix       = "faults:" // of all rooms
	probe        = 3         // the room in which one seller shows when changes are served
)

// Run is one plan with one seed.
type Run struct {
	tb       testing.TB
	plan     Plan
	seed     uint64
	dir      string // of the history and of every log
	program  string // waitroom
	rng      *rand.Rand
	network  *network
	store    store
	database *pgtest.DB // nil: SQLite
	driver   string
	dsn      string
	history  *History
	replicas []*replica
	doors    []*replica // where sellers go in: the replicas, or the balancer before them
	carrier  *carrier
	sellers  []*seller
	rooms    []string
	sockets  atomic.Int64
	clock    *redistest.Clock // nil: the machine's
	offset   atomic.Int64     // ns by which Redis's clock is ahead of the machine's
	left     chan struct{}    // closed when the crowd is to leave
	leave    sync.Once
	troubles []Violation // what was seen while it ran
	tally    *tally
}

// Result is the result of a run.
type Result struct {
	Records    []Record
	Ledger     Ledger
	Violations []Violation
	Summary    string
}

// Play runs a plan with the given waitroom program; history and logs go to dir.
func Play(ctx context.Context, tb testing.TB, plan Plan, seed uint64, program, dir string) (Result, error) {
	r := newRun(tb, plan, seed, program, dir)
	if err := r.start(); err != nil {
		return Result{}, err
	}
	return r.play(ctx)
}

func newRun(tb testing.TB, plan Plan, seed uint64, program, dir string) *Run {
	r := &Run{tb: tb, plan: plan, seed: seed, dir: dir, program: program, left: make(chan struct{}),
		tally: newTally(), network: newNetwork(tb)}
	r.rng = r.random("plan")
	for _, name := range []string{"mixed", "sockets", "api", "probe"} {
		r.rooms = append(r.rooms, prefix+name)
	}
	return r
}

// random returns a random source for one purpose, so that the purposes do not influence each other.
func (r *Run) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // never fails
	return rand.New(rand.NewPCG(r.seed, h.Sum64()))
}

// start returns when every replica is ready.
func (r *Run) start() (err error) {
	if r.history, err = NewHistory(filepath.Join(r.dir, "history.jsonl")); err != nil {
		return err
	}
	if r.carrier, err = newCarrier(r); err != nil {
		return err
	}
	r.startStore()
	env := slices.Clip(append(r.settings(), r.openDatabase()))
	if r.plan.Webhooks {
		g, err := startIntegration(r)
		if err != nil {
			return err
		}
		env = slices.Clip(append(env, g.settings()...))
	}
	for i := range r.plan.replicas() {
		p := newReplica(r, i+1, env)
		url, back := r.store.connect(r, p.name)
		if r.plan.Older != "" && i%2 == 1 {
			p.program = r.plan.Older
		}
		p.back, p.env = back, append(p.env, "WAITROOM_REDIS_URL="+url)
		r.replicas = append(r.replicas, p)
	}
	var all errgroup.Group
	for _, p := range r.replicas {
		all.Go(p.start)
	}
	if err := all.Wait(); err != nil {
		return err
	}
	r.doors = r.replicas
	if r.plan.Balancer {
		return r.startBalancer()
	}
	return nil
}

func (r *Run) settings() []string {
	return append([]string{
		"WAITROOM_ROOMS=" + prefix + "*", "WAITROOM_LEASE=" + r.plan.lease().String(),
		"WAITROOM_AWAY_AFTER=" + awayAfter.String(), "WAITROOM_CLAIM_WITHIN=" + r.plan.ClaimWithin.String(),
		"WAITROOM_DROP_AFTER=5m", "WAITROOM_SMS_WEBHOOK_SECRET=" + smsSecret,
		"WAITROOM_SMS_QUARANTINE=" + quarantine.String(), "WAITROOM_LOG_LEVEL=debug",
		"WAITROOM_TRUSTED_PROXIES=127.0.0.1",
		// All sellers have one address here. An older replica warns about a setting that it does not know.
		"WAITROOM_RATE_LIMIT=0", "WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0", "WAITROOM_ROOM_LIMIT=0",
	}, r.plan.Env...)
}

func (r *Run) openDatabase() (setting string) {
	if r.plan.Postgres {
		r.database = pgtest.StartOwn(r.tb)
		r.driver, r.dsn = "pgx", r.database.URL()
		return "WAITROOM_DATABASE_URL=" + r.dsn
	}
	path := filepath.Join(r.dir, "ledger.db")
	r.driver, r.dsn = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	return "WAITROOM_DATABASE_URL=sqlite:" + path
}

func (r *Run) leaving() bool {
	select {
	case <-r.left:
		return true
	default:
		return false
	}
}

func (r *Run) trouble(kind, format string, args ...any) {
	r.troubles = append(r.troubles, Violation{Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

// play lets the sellers in, injects the faults, lets the sellers leave, and checks the history.
func (r *Run) play(ctx context.Context) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, playsFor+leavesWithin+patience+outboxWithin)
	defer cancel()
	inside, send := context.WithTimeout(ctx, playsFor+leavesWithin)
	defer send()
	crowd := r.letIn(ctx, inside)
	clockKnown := r.followClock(ctx)
	harm := r.harm(inside)
	r.leave.Do(func() { close(r.left) })
	if err := r.letOut(crowd, send); err != nil {
		r.trouble(NoService, "%v", err)
	}
	r.settled(ctx)
	clockKnown()
	ledger, err := r.readLedger(ctx)
	if err != nil {
		return Result{}, err
	}
	for _, s := range r.sellers {
		if s.socket != nil {
			s.socket.close()
		}
	}
	r.search(ctx)
	records, err := r.history.Close()
	if err != nil {
		return Result{}, err
	}
	rules := Rules{Loses: r.plan.Loses, AwayAfter: awayAfter, Lease: r.plan.lease(),
		ClaimWithin: r.plan.ClaimWithin, Shows: r.plan.Shows, Webhooks: r.plan.Webhooks, Serves: r.plan.Serves}
	if err := keepCase(r.dir, rules, ledger); err != nil {
		return Result{}, err
	}
	result := Result{Records: records, Ledger: ledger,
		Violations: append(r.troubles, Check(records, ledger, rules)...)}
	result.Summary = summarise(records, ledger)
	return result, harm
}

// letIn starts the sellers. In the first room some have sockets, in the second all, in the third none. In the
// last room one seller alone joins and leaves without pause, which shows when changes are served. Sockets
// stay open until ctx ends, sellers until inside does.
func (r *Run) letIn(ctx, inside context.Context) *errgroup.Group {
	crowd := &errgroup.Group{}
	for i, room := range r.rooms {
		guests := r.plan.sellers()
		if room == r.rooms[probe] {
			guests = 1
		}
		for n := range guests {
			name := fmt.Sprintf("%s-%d", strings.TrimPrefix(room, prefix), n)
			s := &seller{run: r, room: room, name: name, rng: r.random(name)}
			s.session, s.hurries = r.session(s.rng), i == probe
			if i == 1 || i == 0 && n%3 > 0 {
				s.socket = openSocket(ctx, r, room, s.session, s.rng.IntN(len(r.doors)))
			}
			r.sellers = append(r.sellers, s)
			crowd.Go(func() error { return s.come(inside) })
		}
	}
	return crowd
}

// session returns a random UUID from the seed's random source.
func (r *Run) session(rng *rand.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(rng.UintN(256))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid.UUID(b).String()
}

// letOut returns when every seller has given up its place and every message is answered. Support removes the
// places of sellers that cannot.
func (r *Run) letOut(crowd *errgroup.Group, send context.CancelFunc) error {
	out := make(chan error, 1)
	go func() {
		err := crowd.Wait()
		r.carrier.way.Wait()
		out <- err
	}()
	select {
	case err := <-out:
		return err
	case <-time.After(leavesWithin):
		send()
		return fmt.Errorf("sellers could not give back their places in %s: %w", leavesWithin, <-out)
	}
}

// harm plays the plan's steps.
func (r *Run) harm(ctx context.Context) error {
	steps := append([]Step(nil), r.plan.Steps...)
	if !r.plan.InOrder {
		r.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	}
	for _, s := range steps {
		if err := pause(ctx, every/2+time.Duration(r.rng.Int64N(int64(every)/2))); err != nil {
			return err
		}
		r.tb.Logf("%s (seed %d): %s", r.plan.Name, r.seed, s.Name)
		if err := s.Do(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		r.recovered(ctx, s.Name)
	}
	return pause(ctx, every)
}

// search searches for codes in places where none may be.
func (r *Run) search(ctx context.Context) {
	codes := map[string]string{}
	for _, rec := range r.history.Since(0) {
		if rec.Kind == KindMessage {
			codes[rec.Code] = rec.Message
		}
	}
	for _, p := range r.replicas {
		if text, err := p.metrics(ctx); err == nil {
			r.searchText(codes, p.name+"'s metrics", text)
		}
	}
	paths, _ := filepath.Glob(filepath.Join(r.dir, "*.log"))
	for _, s := range r.store.servers() {
		for _, pattern := range []string{"*", "*/*"} {
			found, _ := filepath.Glob(filepath.Join(s.Dir(), pattern))
			paths = append(paths, found...)
		}
	}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			r.searchText(codes, path, string(text))
		}
	}
}

func (r *Run) searchText(codes map[string]string, where, text string) {
	for code, message := range codes {
		if strings.Contains(text, code) {
			r.trouble(CodeLeaked, "the code of %s is in %s", message, where)
		}
	}
}
