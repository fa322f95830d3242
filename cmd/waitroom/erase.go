package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/waitroom/waitroom/server"
)

// erase reads its own flags; the rest are settings.
func erase(args []string, out io.Writer) error {
	q, rest, err := eraseRequest(args)
	if err != nil {
		return err
	}
	cfg, err := server.ParseConfig(rest)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Erase(ctx, cfg, q, out)
}

func eraseRequest(args []string) (q server.EraseRequest, rest []string, err error) {
	if q.Reason, args, err = taken(args, "reason"); err != nil {
		return q, nil, err
	}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case name == "end-places" && !given:
			q.EndPlaces = true
		case name == "seller" && !given && i+1 < len(args):
			i++
			q.Seller = args[i]
		case name == "seller":
			q.Seller = value
		default:
			rest = append(rest, args[i])
		}
	}
	if q.Seller == "" {
		for _, arg := range rest {
			if arg == "-h" || arg == "--help" || arg == "-help" {
				return q, nil, server.ErrHelp
			}
		}
		return q, nil, errors.New("usage: waitroom erase --seller ID")
	}
	return q, rest, nil
}
