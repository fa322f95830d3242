package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	linearClients = 6
	linearCalls   = 40 // of each client
	linearApart   = 4  // records between one harm and the next
	linearWithin  = 60 * time.Second
)

// A room is one object to all clients, whichever replica they call and whatever fails meanwhile.
func TestARoomIsLinearizableUnderFaults(t *testing.T) {
	for n := range *seeds {
		seed := *seed + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { linear(t, seed) })
	}
}

func linear(t *testing.T, seed uint64) {
	plan := Plan{Name: "linear", LosesReplies: true, Replicas: 2, Lease: 10 * time.Minute}
	built, err := waitroom()
	require.NoError(t, err)
	r := newRun(t, plan, seed, built, t.TempDir())
	require.NoError(t, r.start())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calling, stop := context.WithCancel(ctx)
	harmed := make(chan error, 1)
	go func() { harmed <- r.torment(calling) }()
	var clients errgroup.Group
	for i := range linearClients {
		rng := r.random(fmt.Sprint("client ", i))
		s := &seller{run: r, room: r.rooms[0], name: fmt.Sprint("linear-", i), rng: rng, session: r.session(rng)}
		clients.Go(func() error { return s.callAtRandom(ctx) })
	}
	require.NoError(t, clients.Wait())
	stop()
	require.NoError(t, <-harmed)

	records, err := r.history.Close()
	require.NoError(t, err)
	open := 0
	for _, op := range operations(records, r.rooms[0]) {
		if !op.Output.(linearOutput).known {
			open++
		}
	}
	result, info := linearizable(records, r.rooms[0], linearWithin)
	if result != porcupine.Ok && *results != "" {
		path := filepath.Join(*results, fmt.Sprintf("linear-%d.html", seed))
		require.NoError(t, porcupine.VisualizePath(roomModel(operations(records, r.rooms[0])), info, path))
		t.Logf("drawn in %s", path)
	}
	require.Equal(t, porcupine.Ok, result, "seed %d: %d calls, %d of them without an answer", seed,
		len(operations(records, r.rooms[0])), open)
	require.Positive(t, open, "some calls are to have had no answer, or nothing was tried")
	t.Logf("seed %d: %d calls, %d of them without an answer", seed, len(operations(records, r.rooms[0])), open)
}

// torment drops replies and cuts the sellers' links until the calls are over. It does not run on the test's
// goroutine, so it kills nothing. Each fault waits for some calls after the previous one: on a slow machine
// too many calls would otherwise have no answer, and no order could be found.
func (r *Run) torment(ctx context.Context) error {
	rng := r.random("torment")
	for harmed := r.history.Len(); ; {
		if pause(ctx, time.Duration(10+rng.IntN(60))*time.Millisecond) != nil {
			return nil
		}
		if r.history.Len() < harmed+linearApart {
			continue
		}
		harmed = r.history.Len()
		p := r.replicas[rng.IntN(len(r.replicas))]
		switch rng.IntN(4) {
		case 0:
			p.front.Cut()
			_ = pause(ctx, 20*time.Millisecond)
			if err := p.front.Heal(); err != nil {
				return err
			}
		case 1:
			p.back.Cut()
			if err := p.back.Heal(); err != nil {
				return err
			}
		default:
			lossy := r.store.(*single).lossy
			lossy[rng.IntN(len(lossy))].DropNextReply(nil)
		}
	}
}

// callAtRandom makes calls one after the other. A call without an answer is not repeated, since it may still
// take effect.
func (s *seller) callAtRandom(ctx context.Context) error {
	for range linearCalls {
		c := s.join()
		switch s.rng.IntN(5) {
		case 0, 1:
			c = s.leaving()
		case 2:
			c = s.status()
		}
		_, err := s.run.replicas[s.rng.IntN(len(s.run.replicas))].ask(ctx, c)
		if err != nil && ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if err := s.linger(ctx, time.Millisecond, 30*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func TestALineOutOfOrderIsNotLinearizable(t *testing.T) {
	call := func(n int64, op, session, status string, ticket, position int64) Record {
		return Record{Kind: KindCall, Room: "room", Op: op, Session: session, HTTP: 200, Status: status,
			Ticket: ticket, Position: position,
			Began: Moment{Mono: 10 * n}, Ended: Moment{Mono: 10*n + 5}}
	}
	sound := []Record{
		call(1, "join", "a", "locked", 1, 0), call(2, "join", "b", "waiting", 2, 1),
		call(3, "join", "c", "waiting", 3, 2),
		call(4, "leave", "a", "ended", 1, 0), call(5, "status", "b", "locked", 2, 0),
		call(6, "status", "c", "waiting", 3, 1),
	}
	unanswered := Record{Kind: KindCall, Room: "room", Op: "leave", Session: "b", Error: "EOF",
		Began: Moment{Mono: 62}, Ended: Moment{Mono: 63}}
	for name, c := range map[string]struct {
		more []Record
		want porcupine.CheckResult
	}{
		"sound": {nil, porcupine.Ok},
		"the wrong one is granted": {[]Record{call(7, "leave", "b", "ended", 2, 0),
			call(8, "join", "d", "locked", 4, 0)}, porcupine.Illegal},
		"a ticket is used twice": {[]Record{call(7, "join", "d", "waiting", 3, 2)},
			porcupine.Illegal},
		"a place is forgotten": {[]Record{call(7, "status", "c", "idle", 0, 0)},
			porcupine.Illegal},
		"two hold": {[]Record{call(7, "status", "c", "locked", 3, 0)},
			porcupine.Illegal},
		"a leave without an answer took effect": {[]Record{unanswered, call(7, "status", "c", "locked", 3, 0)},
			porcupine.Ok},
		"a leave without an answer took none": {[]Record{unanswered, call(7, "status", "c", "waiting", 3, 1)},
			porcupine.Ok},
		"a leave without an answer is taken back": {[]Record{unanswered, call(7, "status", "c", "locked", 3, 0),
			call(8, "status", "b", "locked", 2, 0)}, porcupine.Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := linearizable(append(append([]Record(nil), sound...), c.more...), "room", time.Minute)
			require.Equal(t, c.want, got)
		})
	}
}

// plainModel is the model of a room without the shortcuts that save time.
var plainModel = porcupine.Model{
	Init: func() any { return line{} },
	Step: func(state, input, output any) (bool, any) {
		want, next := state.(line).step(input.(linearInput))
		got := output.(linearOutput)
		return !got.known || got == want, next
	},
	Equal: func(a, b any) bool { return a.(line).equal(b.(line)) },
}

// played returns the answers of a correct line to some sellers' calls. A share of the calls has no answer:
// those take effect late or never.
func played(rng *rand.Rand, sellers, calls int, unanswered float64) (records []Record) {
	var effects []int64
	for i := range sellers {
		at := int64(0)
		for range calls {
			at += rng.Int64N(30)
			r := Record{Kind: KindCall, Room: "room", Session: fmt.Sprint("session ", i),
				Op: []string{"join", "join", "leave", "leave", "status"}[rng.IntN(5)], HTTP: 200}
			effect := at + rng.Int64N(10)
			r.Began.Mono, r.Ended.Mono = at, effect+rng.Int64N(10)
			if rng.Float64() < unanswered {
				r.Error, effect = "EOF", at+rng.Int64N(200)
				if rng.IntN(2) == 0 {
					effect = math.MaxInt64
				}
			}
			at = r.Ended.Mono + 1
			records, effects = append(records, r), append(effects, effect)
		}
	}
	inOrder := make([]int, len(records))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortStableFunc(inOrder, func(a, b int) int { return cmp.Compare(effects[a], effects[b]) })
	var room line
	for _, i := range inOrder {
		r := &records[i]
		if effects[i] == math.MaxInt64 {
			break
		}
		var out linearOutput
		out, room = room.step(linearInput{op: r.Op, session: r.Session})
		if r.Error == "" {
			r.Status, r.Ticket, r.Position = out.status, out.ticket, out.position
			if out.status == "no_place" {
				r.HTTP, r.Status, r.Problem = 404, "", "no_place"
			}
		}
	}
	return records
}

// falsify gives one session another session's answer.
func falsify(rng *rand.Rand, records []Record) {
	for range len(records) {
		a, b := &records[rng.IntN(len(records))], &records[rng.IntN(len(records))]
		if a.Error == "" && b.Error == "" && a.Op == b.Op && a.Session != b.Session && b.Ticket != 0 &&
			a.Ticket != b.Ticket {
			a.Status, a.Ticket, a.Position, a.Problem, a.HTTP = b.Status, b.Ticket, b.Position, b.Problem, b.HTTP
			return
		}
	}
}

// With any number of unanswered calls, the result is the same as after trying all orders.
func TestWhatSparesTimeChangesNoVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[porcupine.CheckResult]int{}
	for range 400 {
		records := played(rng, 3, 4, 0.4)
		if rng.IntN(2) == 0 {
			falsify(rng, records)
		}
		list := operations(records, "room")
		want := porcupine.CheckOperationsTimeout(plainModel, list, time.Minute)
		got, _ := linearizable(records, "room", time.Minute)
		require.Equal(t, want, got, "%+v", records)
		seen[got]++
	}
	require.Greater(t, seen[porcupine.Ok], 50)
	require.Greater(t, seen[porcupine.Illegal], 50)
}

func TestWhereAQuarterHasNoAnswerThereIsAVerdict(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 2))
		records, want := played(rng, linearClients, linearCalls, 0.25), porcupine.Ok
		if seed%2 == 1 {
			falsify(rng, records)
			want = porcupine.Illegal
		}
		got, _ := linearizable(records, "room", time.Minute)
		require.Equal(t, want, got, "seed %d", seed)
	}
}
