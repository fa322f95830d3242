package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/server"
)

// healthcheck asks the server with these settings whether it is alive.
func healthcheck(args []string) error {
	cfg, err := server.ParseConfig(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.LocalURL()+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", req.URL, resp.Status)
	}
	return nil
}

// released is the version that a release and the image are built with: -ldflags "-X main.released=v1.2.3".
// Without it Go's own build version counts.
var released string

func version(out io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without its version")
	}
	fmt.Fprintf(out, "waitroom %s", cmp.Or(released, info.Main.Version))
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision", "vcs.time":
			fmt.Fprintf(out, " %s", s.Value)
		}
	}
	fmt.Fprintf(out, " %s\n", info.GoVersion)
	return nil
}

// shortest is the least length of a password, in characters.
const shortest = 10

// hashPassword reads one line, so that the password is in no command line and no history.
func hashPassword(in io.Reader, out io.Writer) error {
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if utf8.RuneCountInString(password) < shortest {
		return fmt.Errorf("give a password of at least %d characters on standard input", shortest)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return err // longer than 72 bytes
	}
	fmt.Fprintln(out, string(hash))
	return nil
}
