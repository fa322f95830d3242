package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/waitroom/waitroom/server"
)

// audit reads its one subcommand, verify, and --since; the rest are settings.
func audit(args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "verify" {
		return errors.New("usage: waitroom audit verify [--since DIGEST]")
	}
	since, rest, err := taken(args[1:], "since")
	if err != nil {
		return err
	}
	cfg, err := server.ParseConfig(rest)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.VerifyAudit(ctx, cfg, since, out)
}

// taken returns the value of a flag, and the other arguments.
func taken(args []string, flag string) (value string, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, given, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case name != flag || !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
			continue
		case !has && i+1 < len(args):
			i++
			given = args[i]
		}
		if value = given; value == "" {
			return "", nil, fmt.Errorf("--%s needs a value", flag)
		}
	}
	return value, rest, nil
}
