package main

import (
	"errors"
	"io"

	"github.com/waitroom/waitroom/server"
)

// support makes a token for an integration that uses support's API.
func support(args []string, out, notes io.Writer) error {
	if len(args) != 3 || args[0] != "token" {
		return errors.New("usage: waitroom support token NAME watch|act")
	}
	return server.WriteSupportToken(out, notes, args[1], args[2])
}
