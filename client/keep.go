package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps the session of each place, a secret, for a program that may be killed. Its methods may be
// called by many goroutines. A place is named by the server, the room and the seller.
type Store interface {
	// Load returns the session that Save has kept for a place; "" for none.
	Load(ctx context.Context, place string) (session string, err error)
	// Save keeps a session in place of an earlier one; "" removes it.
	Save(ctx context.Context, place, session string) error
}

// Keep has Join keep the session in a store before it joins. The same Join of a program that was killed then
// goes on with the place: in the line, in its turn, or with the code that has completed the turn. Done and
// Leave remove the session, and so does a Code that returns *Ended. One program at a time may join for a
// seller and a room: two would share the place and its codes.
func Keep(store Store) Option { return func(j *joining) { j.keep = store } }

// Dir returns a Store that keeps each session in a file of a directory, which only its owner can read. It
// makes the directory. The clients in other languages keep the same files.
func Dir(path string) Store { return dir(path) }

type dir string

func (d dir) Load(_ context.Context, place string) (string, error) {
	text, err := os.ReadFile(d.file(place))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

func (d dir) Save(_ context.Context, place, session string) error {
	file := d.file(place)
	if session == "" {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(string(d), ".next-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(next.Name()) }()
	_, err = next.WriteString(session + "\n")
	if err = errors.Join(err, next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), file)
}

func (d dir) file(place string) string {
	return filepath.Join(string(d), fmt.Sprintf("%x", sha256.Sum256([]byte(place))))
}

// kept is a place whose session a store keeps. Its zero value keeps nothing.
type kept struct {
	store Store
	place string
}

func (k kept) load(ctx context.Context) (string, error) {
	session, err := k.store.Load(ctx, k.place)
	return session, failed(err)
}

func (k kept) save(ctx context.Context, session string) error {
	if k.store == nil {
		return nil
	}
	return failed(k.store.Save(ctx, k.place, session))
}

func failed(err error) error {
	if err != nil {
		return fmt.Errorf("keep a session: %w", err)
	}
	return nil
}

// joinKept joins a room, or returns the place that the kept session has already.
func (c *Client) joinKept(ctx context.Context, room, seller string, j joining) (*Turn, error) {
	if seller == "" {
		return nil, errors.New("keep a session: want the seller's id, also beside a token")
	}
	k := kept{j.keep, fmt.Sprintf("%s %s %s", c.base, room, seller)}
	session, err := k.load(ctx)
	if err != nil {
		return nil, err
	}
	if session != "" {
		t, err := c.Resume(ctx, room, session)
		switch {
		case err == nil && (t.state.Status != "ended" || t.state.Outcome == "completed"):
			t.kept = k
			return t, nil
		case errors.Is(err, ErrNoTurn): // it was killed before it had joined
			j.session = session
		case err != nil:
			return nil, err
		}
	}
	if err := k.save(ctx, j.session); err != nil {
		return nil, err
	}
	t, err := c.join(ctx, room, seller, j)
	if err != nil {
		return nil, err
	}
	t.kept = k
	return t, nil
}
