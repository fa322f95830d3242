// Command peers lets the lock and other Redis locks for Go contend in the same way, on one Redis, and writes
// a table. With -serve it is one of the plain servers that `make bench` puts beside waitroom.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/lab/section"
	"github.com/waitroom/waitroom/lab/stack"
)

// config holds the command's flags.
type config struct {
	length  time.Duration
	only    string
	cells   string
	oneOff  int
	rest    time.Duration
	out     string
	json    string
	redis   string
	command string
	serve   string
	addr    string
}

func main() {
	var c config
	flag.DurationVar(&c.length, "length", 2*time.Second, "how long each cell is measured")
	flag.StringVar(&c.only, "only", "", "only libraries whose name contains this")
	flag.StringVar(&c.cells, "cells", "2:0s,2:1ms,64:0s,64:1ms,512:0s,512:1ms",
		"contenders:work, with commas between")
	flag.IntVar(&c.oneOff, "oneoff", 2000, "how many keys each library takes once, for the page; 0 = that "+
		"is not measured")
	flag.DurationVar(&c.rest, "rest", 5*time.Second, "after how long what is left of those keys is measured")
	flag.StringVar(&c.out, "out", "", "Markdown file to write the table into, besides printing it")
	flag.StringVar(&c.json, "json", "", "file for the rates as JSON, instead of printing the table")
	flag.StringVar(&c.redis, "redis", "", "host:port of an empty Redis; default: one is started")
	flag.StringVar(&c.command, "command", strings.TrimSpace("cd lab && go run ./peers "+strings.Join(os.Args[1:],
		" ")), "what the table says it was made by")
	flag.StringVar(&c.serve, "serve", "", "gin: HTTP handlers that do SET NX PX and DEL, on -addr and "+
		"-redis; sockets: a plain WebSocket server on -addr; relay: the way from a request to a socket by "+
		"Redis alone, on -addr and -redis")
	flag.StringVar(&c.addr, "addr", "", "where to serve")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if err := run(c); err != nil {
		log.Fatal(err)
	}
}

func run(c config) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch c.serve {
	case "":
		return compare(ctx, c)
	case "gin":
		return serve(ctx, c.addr, ginHandler(c.redis))
	case "sockets":
		return serve(ctx, c.addr, newPlain())
	case "relay":
		return serve(ctx, c.addr, newRelay(ctx, c.redis))
	}
	return fmt.Errorf("-serve %s: there are gin, sockets and relay", c.serve)
}

// compare measures every library in every cell.
func compare(ctx context.Context, c config) error {
	s, err := stack.New("waitroom-peers-")
	if err != nil {
		return err
	}
	defer s.Stop()
	if c.redis == "" {
		if _, c.redis, err = s.Redis(ctx); err != nil {
			return err
		}
	}
	results, err := measure(ctx, c)
	if err != nil {
		return err
	}
	var oneOffs []oneOff
	if c.oneOff > 0 && (c.out != "" || c.json == "") {
		if oneOffs, err = measureOneOffs(ctx, c); err != nil {
			return err
		}
	}
	text := report(machine(), c.command, results) + reportOneOffs(c, oneOffs)
	if c.out != "" {
		if err := section.Put(c.out, "Benchmarks", "peers", "lab/peers", text); err != nil {
			return err
		}
	}
	if c.json != "" {
		return save(c.json, results)
	}
	fmt.Println(text)
	return nil
}

func measure(ctx context.Context, c config) ([]result, error) {
	var results []result
	for cell := range strings.SplitSeq(c.cells, ",") {
		if cell == "" {
			continue // -cells "": one-off keys alone
		}
		var n int
		var text string
		if _, err := fmt.Sscanf(strings.Replace(cell, ":", " ", 1), "%d %s", &n, &text); err != nil {
			return nil, fmt.Errorf("-cells: %q is not like 64:1ms", cell)
		}
		work, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("-cells: %w", err)
		}
		for _, lib := range libraries() {
			if !strings.Contains(lib.name, c.only) {
				continue
			}
			r, err := contend(ctx, lib, c.redis, n, work, c.length)
			if err != nil {
				return nil, err
			}
			log.Printf("%d contenders, %s: %s", n, work, strings.TrimSpace(r.row()))
			results = append(results, r)
		}
	}
	return results, nil
}

// rate is a result in a form for programs.
type rate struct {
	Library    string  `json:"library"`
	Contenders int     `json:"contenders"`
	WorkMS     float64 `json:"work_ms"`
	Handoffs   float64 `json:"handoffs_per_second"`
	Overtaking int     `json:"overtaking"`
	Grants     int     `json:"grants"`
}

func save(path string, results []result) error {
	var list []rate
	for _, r := range results {
		list = append(list, rate{r.library, r.contenders, float64(r.work) / float64(time.Millisecond),
			r.handoffRate(), r.overtaking, r.grants})
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// machine describes the machine of the run.
func machine() string {
	version, _ := exec.Command("redis-server", "--version").Output()
	fields := strings.Fields(string(version))
	return fmt.Sprintf("Machine: %s; %s; Redis, the contenders and whatever else ran shared it (load "+
		"average at the end: %s).",
		stack.Machine(), strings.Join(fields[:min(3, len(fields))], " "), stack.Load())
}
