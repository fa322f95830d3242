package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/waitroom/waitroom/server"
)

// audit reads its one subcommand, verify; the rest are settings.
func audit(args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "verify" {
		return errors.New("usage: waitroom audit verify")
	}
	cfg, err := server.ParseConfig(args[1:])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.VerifyAudit(ctx, cfg, out)
}
