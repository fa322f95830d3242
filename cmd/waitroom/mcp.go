package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3"

	"github.com/waitroom/waitroom/client"
	"github.com/waitroom/waitroom/cmd/waitroom/mcpserver"
	"github.com/waitroom/waitroom/server"
)

// mcpUsage lists the settings of waitroom mcp.
const mcpUsage = `  waitroom mcp --url URL [--room ROOM] [--seller ID] [--token TOKEN | --token-file FILE]
               [--sessions FILE]
                                   give an agent program tools to take a turn, as a server of the Model Context
                                   Protocol on standard input and output; the settings also as WAITROOM_URL,
                                   WAITROOM_ROOM …
`

// agentTools serves an agent program's tools on in and out until in ends.
func agentTools(args []string, in io.Reader, out io.Writer) error {
	c, err := agentConfig(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return mcpserver.Run(ctx, c, mcpserver.Stdio(in, out))
}

// agentConfig reads flags, then the environment. Its errors have no token.
func agentConfig(args []string) (mcpserver.Config, error) {
	flags := flag.NewFlagSet("waitroom mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	url := flags.String("url", "", "")
	room := flags.String("room", "", "")
	seller := flags.String("seller", "", "")
	token := flags.String("token", "", "")
	tokenFile := flags.String("token-file", "", "")
	sessions := flags.String("sessions", "", "")
	if err := ff.Parse(flags, args, ff.WithEnvVarPrefix("WAITROOM")); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return mcpserver.Config{}, server.ErrHelp
		}
		return mcpserver.Config{}, err
	}
	if flags.NArg() > 0 {
		return mcpserver.Config{}, fmt.Errorf("%q is no flag of waitroom mcp", flags.Arg(0))
	}
	if *url == "" {
		return mcpserver.Config{}, errors.New("WAITROOM_URL (--url) is not set: want the server's, such as " +
			"https://waitroom.example")
	}
	proof, err := agentToken(*token, *tokenFile)
	if err != nil {
		return mcpserver.Config{}, err
	}
	c, err := client.New(*url, client.Config{Token: proof})
	if err != nil {
		return mcpserver.Config{}, fmt.Errorf("WAITROOM_URL (--url): %w", err)
	}
	cfg := mcpserver.Config{Client: c, Room: *room, Seller: *seller, Proven: proof != nil,
		Version: cmp.Or(released, "devel")}
	if *sessions != "" {
		cfg.Keep = mcpserver.NewFile(*sessions)
	}
	return cfg, nil
}

// agentToken returns the function that gives a join the seller's token; nil without one. A file is read for
// each join, since the portal's tokens are replaced there when they expire.
func agentToken(token, file string) (func(context.Context) (string, error), error) {
	switch {
	case token != "" && file != "":
		return nil, errors.New("WAITROOM_TOKEN (--token) and WAITROOM_TOKEN_FILE (--token-file): set one of them")
	case token != "":
		return func(context.Context) (string, error) { return token, nil }, nil
	case file == "":
		return nil, nil
	}
	read := func(context.Context) (string, error) {
		text, err := os.ReadFile(file)
		if err == nil && strings.TrimSpace(string(text)) == "" {
			err = fmt.Errorf("%s is empty", file)
		}
		if err != nil {
			return "", fmt.Errorf("WAITROOM_TOKEN_FILE (--token-file): %w", err)
		}
		return string(text), nil
	}
	_, err := read(context.Background())
	return read, err
}
