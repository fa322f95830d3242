// Command instructions counts the instructions that Redis executes for a call of each verb, its request and
// reply included, with Callgrind. Unlike times they are the same on a busy machine. With -time it prints the
// time that Redis says it needed instead (INFO commandstats).
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lab/stack"
	"github.com/waitroom/waitroom/room"
)

func main() {
	calls := flag.Int("calls", 200, "how often each verb is called")
	timed := flag.Bool("time", false, "print times instead of instructions")
	flag.Parse()
	if err := run(context.Background(), *calls, *timed); err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, calls int, timed bool) error {
	s, err := stack.New("instructions")
	if err != nil {
		return err
	}
	defer s.Stop()
	m, err := start(ctx, s, timed)
	if err != nil {
		return err
	}
	least := redis.NewScript(`redis.call('SET',KEYS[1],ARGV[1],'NX','PX',120000) return redis.call('DEL',KEYS[1])`)
	if err := least.Run(ctx, m.rdb, []string{"k"}, "v").Err(); err != nil {
		return err
	}
	small, err := m.count(ctx, calls, func(int) error { return least.Run(ctx, m.rdb, []string{"k"}, "v").Err() })
	if err != nil {
		return err
	}
	unit := "thousand"
	if timed {
		unit = "µs"
	}
	fmt.Printf("%-28s %9s %8s\n", "", unit, "× least")
	fmt.Printf("%-28s %9.1f %8.1f\n", "least script", float64(small)/1000, 1.0)
	for _, way := range []string{"functions", "scripts"} {
		for _, v := range verbs {
			n, err := v.measure(ctx, m, room.Config{Journal: 100_000, Scripts: way == "scripts"}, calls)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			fmt.Printf("%-28s %9.1f %8.1f\n", v.name+", "+way, float64(n)/1000, float64(n)/float64(small))
		}
	}
	return nil
}

// meter is a Redis that runs under Callgrind, or by itself.
type meter struct {
	rdb   *redis.Client
	timed bool
	pid   int
	out   string
	dumps int
}

func start(ctx context.Context, s *stack.Stack, timed bool) (*meter, error) {
	server, err := stack.Find("redis-server", "scripts/setup.sh load")
	if err != nil {
		return nil, err
	}
	addr, err := stack.Address()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	m := &meter{timed: timed, out: filepath.Join(s.Dir, "callgrind")}
	command := []string{server, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.Dir}
	if !timed {
		valgrind, err := stack.Find("valgrind", "scripts/setup.sh bench")
		if err != nil {
			return nil, err
		}
		command = append([]string{valgrind, "--tool=callgrind", "--callgrind-out-file=" + m.out}, command...)
	}
	child, err := s.Launch("redis", exec.Command(command[0], command[1:]...))
	if err != nil {
		return nil, err
	}
	m.pid = child.Pid()
	m.rdb = redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1, ReadTimeout: time.Minute,
		DialTimeout: time.Minute})
	return m, child.Until(ctx, func() error { return m.rdb.Ping(ctx).Err() })
}

var totals = regexp.MustCompile(`(?m)^totals: (\d+)`)

// count returns the average number of instructions of a call, or its average time in nanoseconds.
func (m *meter) count(ctx context.Context, calls int, call func(i int) error) (int, error) {
	if m.timed {
		return m.time(ctx, calls, call)
	}
	if err := m.control("--zero"); err != nil {
		return 0, err
	}
	for i := range calls {
		if err := call(i); err != nil {
			return 0, err
		}
	}
	if err := m.control("--dump"); err != nil {
		return 0, err
	}
	m.dumps++
	text, err := os.ReadFile(m.out + "." + strconv.Itoa(m.dumps))
	if err != nil {
		return 0, err
	}
	found := totals.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("no totals in Callgrind's output")
	}
	n, err := strconv.Atoi(string(found[1]))
	return n / calls, err
}

var scripts = regexp.MustCompile(`(?m)^cmdstat_(?:fcall|fcall_ro|evalsha):calls=\d+,usec=(\d+)`)

func (m *meter) time(ctx context.Context, calls int, call func(i int) error) (ns int, err error) {
	if err := m.rdb.ConfigResetStat(ctx).Err(); err != nil {
		return 0, err
	}
	for i := range calls {
		if err := call(i); err != nil {
			return 0, err
		}
	}
	stats, err := m.rdb.Info(ctx, "commandstats").Result()
	for _, of := range scripts.FindAllStringSubmatch(stats, -1) {
		us, _ := strconv.Atoi(of[1])
		ns += 1000 * us
	}
	return ns / calls, err
}

func (m *meter) control(what string) error {
	if out, err := exec.Command("callgrind_control", what, strconv.Itoa(m.pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("callgrind_control: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return m.rdb.Ping(context.Background()).Err() // it is done once the server goes on
}
