// Command waitroom gives every room's lock to one seller at a time, in order of arrival.
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

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program; it returns the exit code.
func run(args []string, in io.Reader, out, problems io.Writer) int {
	command := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	err := dispatch(command, args, in, out, problems)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, server.ErrHelp):
		usage(out)
		return 0
	}
	fmt.Fprintf(problems, "waitroom: %v\n", err)
	return 1
}

func dispatch(command string, args []string, in io.Reader, out, problems io.Writer) error {
	switch command {
	case "serve":
		return serve(args, problems)
	case "healthcheck":
		return healthcheck(args)
	case "version":
		return version(out)
	case "doctor":
		return diagnose(args, out)
	case "erase":
		return erase(args, out)
	case "audit":
		return audit(args, out)
	case "support":
		return support(args, out, problems)
	case "mcp":
		return agentTools(args, in, out)
	case "hash-password":
		return hashPassword(in, out)
	case "help":
		return server.ErrHelp
	}
	return fmt.Errorf("there is no command %q; see waitroom --help", command)
}

// serve runs until the first SIGINT or SIGTERM and drains; the second ends the process at once. SIGHUP
// reloads the rooms file; without a rooms file it acts as SIGTERM: the terminal is gone.
func serve(args []string, problems io.Writer) error {
	cfg, err := server.ParseConfig(args)
	if err != nil {
		return err
	}
	cfg.Tracing.Version = released
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	switch {
	case cfg.RoomsFile != "":
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		cfg.Reload = hangups
	case !signal.Ignored(syscall.SIGHUP): // nohup makes it ignored
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop)
	return server.Run(ctx, cfg, cfg.NewLog(problems))
}

func usage(out io.Writer) {
	fmt.Fprint(out, `waitroom: one at a time, first come first served.

Usage:
  waitroom [serve] [settings]      serve until interrupted
  waitroom healthcheck [settings]  exit 0 when the server with these settings lives
  waitroom doctor [settings]       check settings, Redis, database and ports, and print errors with their
                                   remedies; exit 1 if there are any
  waitroom doctor --source NAME [settings]
                                   print what came last from a source of SMS, and what became of it
  waitroom doctor --room ROOM [settings]
                                   print what Redis has of a room, key by key, without sessions and texts
  waitroom doctor --token FILE [--room ROOM] [settings]
                                   print how a seller's token counts, and what to change where it does not
  waitroom version                 print the version
  waitroom erase --seller ID [--end-places] [--reason TEXT] [settings]
                                   replace a seller's name by a random one, in Redis and in the ledger, and
                                   print the result
  waitroom audit verify [--since DIGEST] [settings]
                                   verify that no row of support's audit was edited, was added or is missing,
                                   and that it goes on from an earlier digest; exit 1 otherwise
`+mcpUsage+`  waitroom hash-password           read a password from standard input and print its hash
  waitroom support token NAME ROLE make a token for an integration, role watch or act, and print it and its
                                   entry in WAITROOM_SUPPORT_TOKENS

Settings, as flag or environment variable; the flag wins:
`)
	server.WriteSettings(out)
	fmt.Fprint(out, `
The variables of OpenTelemetry set up traces (OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318;
docs/traces.md).
`)
}
