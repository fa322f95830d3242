package faults

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

var (
	plans   = flag.String("faults.plans", "", "plans to play, with commas between, or all; none = the short one")
	seed    = flag.Uint64("faults.seed", 1, "the first seed")
	seeds   = flag.Int("faults.seeds", 1, "how many seeds")
	results = flag.String("faults.results", "", "where the histories of failing runs are kept")
	program = flag.String("faults.program", "",
		"a waitroom that is built already, to be tried instead of this checkout's")
	older = flag.String("faults.older", "",
		"another version's waitroom, for the plan mixed-versions (make mixed-versions FROM=v1.0.0)")
	again = flag.String("faults.again", "",
		"a kept run's directory: judge its history again, by the checker as it is now")
	keep = flag.Bool("faults.keep", false, "keep the histories of all runs")
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "waitroom-faults-")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := pgtest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// programs is the directory of the program under test, which the first test that needs it builds.
var programs string

var waitroom = sync.OnceValues(func() (string, error) {
	if *program != "" {
		return filepath.Abs(*program)
	}
	return build(programs)
})

// build builds the program of this checkout.
func build(dir string, args ...string) (program string, err error) {
	program = filepath.Join(dir, "waitroom")
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o",
		program}, args...), "./cmd/waitroom")...)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

func chosen(t *testing.T) []Plan {
	if *plans == "" {
		return []Plan{Short(), ShortOnScripts()}
	}
	if *plans == "all" {
		return Plans()
	}
	var list []Plan
	for name := range strings.SplitSeq(*plans, ",") {
		found := false
		for _, p := range append(Plans(), Short(), ShortOnScripts(), Calm(), Mixed(*older),
			MixedWithClaims(*older)) {
			if p.Name == name {
				require.False(t, strings.HasPrefix(name, "mixed-") && *older == "",
					"%s needs another version's program: -faults.older, or make mixed-versions", name)
				list, found = append(list, p), true
			}
		}
		require.True(t, found, "there is no plan %q", name)
	}
	return list
}

func TestNothingIsLostOrDoubledUnderFaults(t *testing.T) {
	list := chosen(t)
	for n := range *seeds {
		for _, plan := range list {
			t.Run(fmt.Sprintf("%s/%d", plan.Name, *seed+uint64(n)),
				func(t *testing.T) { play(t, plan, *seed+uint64(n)) })
		}
	}
}

// play runs a plan; a failed run keeps its history.
func play(t *testing.T, plan Plan, seed uint64) {
	dir := t.TempDir()
	if *results != "" {
		dir = filepath.Join(*results, fmt.Sprintf("%s-%d", plan.Name, seed))
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		t.Cleanup(func() {
			if !t.Failed() && !*keep {
				_ = os.RemoveAll(dir)
			}
		})
	}
	if plan.Name == mixedClaims {
		knows, err := knowsClaims(plan.Older)
		require.NoError(t, err)
		if !knows {
			t.Skip("not tried: the other version knows no claims")
		}
	}
	built, err := waitroom()
	require.NoError(t, err)
	result, err := Play(t.Context(), t, plan, seed, built, dir)
	t.Logf("%s, seed %d: %s", plan.Name, seed, result.Summary)
	report(t, result.Violations)
	require.NoError(t, err)
	if t.Failed() {
		t.Logf("play it again: make faults PLAN=%s SEED=%d; its history is in %s", plan.Name, seed, dir)
	}
}

func TestAKeptHistoryIsJudgedAgain(t *testing.T) {
	if *again == "" {
		t.Skip("needs a kept history: -faults.again results/faults/flushall-1")
	}
	violations, err := CheckAgain(*again)
	require.NoError(t, err)
	report(t, violations)
}

// report prints the first few violations of each kind.
func report(t *testing.T, violations []Violation) {
	const most = 5
	kinds := map[string]int{}
	for _, v := range violations {
		if kinds[v.Kind]++; kinds[v.Kind] <= most {
			t.Error(v)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Errorf("%s: %d times", kind, kinds[kind])
	}
}
