package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/waitroom/waitroom/server"
	"github.com/waitroom/waitroom/server/doctor"
)

var errDoctor = errors.New("something is wrong: see above")

// diagnose checks what a replica with these settings depends on, and writes what is wrong and what to do.
// With --source NAME it writes what came last from that source instead, with --room ROOM what Redis has of
// that room. With --token FILE it writes how the seller's token in the file counts, in that room if one is
// given, and never the token.
func diagnose(args []string, out io.Writer) error {
	source, args, err := taken(args, "source")
	if err != nil {
		return err
	}
	id, args, err := taken(args, "room")
	if err != nil {
		return err
	}
	tokenFile, args, err := taken(args, "token")
	if err != nil {
		return err
	}
	var token []byte
	if tokenFile != "" {
		if token, err = os.ReadFile(tokenFile); err != nil {
			return fmt.Errorf("--token: %w", err)
		}
	}
	cfg, err := server.ParseConfig(args)
	if errors.Is(err, server.ErrHelp) {
		return err
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(out, "WRONG  settings  %s\n", strings.TrimSpace(line))
		}
		return errDoctor
	}
	ctx := context.Background()
	var findings []doctor.Finding
	if tokenFile != "" {
		findings = server.DiagnoseToken(ctx, cfg, string(token), id)
	} else {
		findings = server.Diagnose(ctx, cfg, doctor.Only{Source: source, Room: id})
	}
	if !doctor.WriteFindings(out, findings) {
		return errDoctor
	}
	return nil
}
