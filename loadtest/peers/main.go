// Command peers lets the lock and other Redis locks for Go contend in the same way, on one Redis that
// it starts itself, and writes a table.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

func main() {
	length := flag.Duration("length", 2*time.Second, "how long each cell is measured")
	only := flag.String("only", "", "only libraries whose name contains this")
	out := flag.String("out", "", "markdown file to write the table into, besides printing it")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if err := run(*length, *only, *out); err != nil {
		log.Fatal(err)
	}
}

func run(length time.Duration, only, out string) error {
	addr, stop, err := startRedis(context.Background())
	if err != nil {
		return err
	}
	defer stop()
	var results []result
	for _, n := range []int{2, 64, 512} {
		for _, work := range []time.Duration{0, time.Millisecond} {
			for _, lib := range libraries() {
				if !strings.Contains(lib.name, only) {
					continue
				}
				r, err := contend(lib, addr, n, work, length)
				if err != nil {
					return err
				}
				log.Printf("%d contenders, %s: %s", n, work, strings.TrimSpace(r.row()))
				results = append(results, r)
			}
		}
	}
	command := strings.TrimSpace("cd loadtest/peers && go run . " + strings.Join(os.Args[1:], " "))
	text := report(machine(), command, results)
	fmt.Println(text)
	if out == "" {
		return nil
	}
	return put(out, text)
}

// machine says what all this ran on.
func machine() string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.TrimLeft(strings.TrimSpace(name), ": \t")
				break
			}
		}
	}
	version, _ := exec.Command("redis-server", "--version").Output()
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("Machine: %d × %s, %s, %s; %s; Redis, the contenders and whatever else ran shared it (load average at the end: %s).",
		runtime.NumCPU(), cpu, runtime.GOOS, runtime.Version(), strings.Join(strings.Fields(string(version))[:3], " "),
		strings.Join(strings.Fields(string(load))[:2], ", "))
}
