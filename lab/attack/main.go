// Attack runs the attacks of docs/threat-model.md that one machine can make, all at once, beside honest
// sellers. It fails if a seller loses a turn, or if a join takes twice as long as without the attacks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	longest = 2 * time.Hour
	quiet   = 10 * time.Second // without attacks, before each time with them
	loud    = 20 * time.Second
)

func main() {
	root := flag.String("root", ".", "the checkout")
	length := flag.Duration("for", 10*time.Minute, fmt.Sprintf("how long; at most %s", longest))
	flag.Parse()
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := run(ctx, *root, min(*length, longest))
	if err != nil {
		log.Fatalf("attack: %v", err)
	}
	fmt.Print(found)
	if err := errors.Join(found.judge(), found.slow()); err != nil {
		log.Fatalf("attack: %v", err)
	}
}

// run starts a deployment, its sellers, and the attacks in turn with times without them.
func run(ctx context.Context, root string, length time.Duration) (*result, error) {
	s, err := open(ctx, root)
	if s != nil {
		defer s.Stop()
	}
	if err != nil {
		return nil, err
	}
	found := &result{attacks: map[string]*answers{}}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	done := s.sellers(ctx, found)
	for ctx.Err() == nil {
		wait(ctx, quiet)
		attacking, end := context.WithTimeout(ctx, loud)
		found.begin()
		s.attack(attacking, found)
		found.end()
		end()
	}
	<-done
	return found, s.measure(found)
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
