// Command demo shows a busy line: waitroom on loopback with its embedded store, simulated sellers who
// come, wait, take their turn and come again, and a simulated carrier that sends the codes that holders ask
// for, including a person who joins by the page. All of it runs in this one process.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/server"
)

const (
	busyRoom    = "integration"
	supportName = "support"
	everyLine   = 10 // seconds
)

var rooms = []crowd.Crowd{{Room: busyRoom, People: 12}, {Room: "coupang", People: 3},
	{Room: "musinsa", People: 2}}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run runs the demo until a signal or for the given time.
func run(args []string, out, problems io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(problems)
	length := flags.String("for", os.Getenv("DEMO_FOR"),
		"how long, such as 30s; default until Ctrl-C (DEMO_FOR)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends it at once
	if *length != "" {
		d, err := time.ParseDuration(*length)
		if err != nil {
			return fmt.Errorf("DEMO_FOR: %w", err)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	data, err := os.MkdirTemp("", "waitroom-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	return show(ctx, data, out, problems)
}

// show serves and lets the crowd use the server until ctx ends; then the crowd leaves and the server ends.
func show(ctx context.Context, data string, out, problems io.Writer) error {
	d := &demo{out: out, password: word(), secret: "whsec_" +
		base64.StdEncoding.EncodeToString([]byte(rand.Text()+rand.Text()))}
	s, err := d.open(ctx, data, problems)
	if err != nil {
		return err
	}
	d.url = s.URL()
	serving, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving) }()
	d.welcome()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var helpers sync.WaitGroup
	for _, r := range rooms {
		helpers.Go(func() { d.carry(ctx, r.Room) })
	}
	err = d.crowd(ctx)
	cancel()
	helpers.Wait()
	end()
	if served := <-ended; err == nil {
		err = served
	}
	return err
}

type demo struct {
	out                   io.Writer
	url, password, secret string
}

// word returns a password that is easy to type.
func word() string { return strings.ToLower(rand.Text()[:10]) }

// open starts the server with the demo's settings; it ignores the environment's settings.
func (d *demo) open(ctx context.Context, data string, problems io.Writer) (*server.Server, error) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "WAITROOM_") {
			_ = os.Unsetenv(name)
		}
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(d.password), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(rooms))
	for _, r := range rooms {
		names = append(names, r.Room)
	}
	cfg, err := server.ParseConfig([]string{"--addr", address(), "--redis-url", "embedded", "--rooms",
		strings.Join(names, ","),
		"--database-url", "sqlite:" + filepath.Join(data, "waitroom.db"), "--rate-limit", "0", "--places-per-ip",
		"0", "--log-level", "warn",
		"--lease", "40s", "--away-after", "5s", "--drop-after", "1m", "--sms-quarantine", "5s", "--drain-timeout",
		"3s",
		"--sms-webhook-secret", d.secret, "--support-users", supportName + ":" + string(hash)})
	if err != nil {
		return nil, err
	}
	return server.New(ctx, cfg, cfg.NewLog(problems))
}

const usual = "127.0.0.1:8080"

// address returns port 8080 of loopback, or a free port if that is taken.
func address() string {
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return usual
}

func (d *demo) welcome() {
	fmt.Fprintf(d.out, `
  The seller's page   %s/rooms/%s
                      press 준비 완료 and wait for your turn; the code that you ask for comes
  Quieter rooms       %[1]s/rooms/%[3]s  %[1]s/rooms/%[4]s
  Support's desk      %[1]s/support    user %[5]s, password %[6]s

  The other sellers are simulated. Everything is on this machine and forgotten when this ends: Ctrl-C.

`, d.url, busyRoom, rooms[1].Room, rooms[2].Room, supportName, d.password)
}

// crowd lets the sellers use the server until ctx ends.
func (d *demo) crowd(ctx context.Context) error {
	for seed := uint64(1); ctx.Err() == nil; seed++ {
		n := 0
		summary, err := crowd.Run(ctx, crowd.Config{URLs: []string{d.url}, Rooms: rooms,
			Duration: crowd.MaxDuration, Seed: seed,
			Mix: crowd.Mix{Impatient: 15, Sleeping: 10, Reloading: 10, Tabs: 10}, Arrivals: 4, Hold: 5 * time.Second,
			Rest:    5 * time.Second,
			Carrier: crowd.Carrier{Secret: d.secret, Delay: 2 * time.Second}, Rules: crowd.Rules{Open: true},
			Every: func(l crowd.Line) {
				if n++; n%everyLine == 1 {
					fmt.Fprintln(d.out, l)
				}
			}})
		if err != nil {
			return err
		}
		if !summary.OK() {
			return fmt.Errorf("rules were broken: %v", summary.Violations)
		}
	}
	return nil
}
