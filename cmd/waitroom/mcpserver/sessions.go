package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// File stores sessions in a JSON file that only its owner can read.
type File struct {
	path string
	mu   sync.Mutex
}

// NewFile returns the sessions in a file, which may be empty or missing. No other process may use it.
func NewFile(path string) *File { return &File{path: path} }

// Load returns the session of a place; "" for none. Its errors name the file, and nothing in it.
func (f *File) Load(place string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	return all[place], err
}

// Store keeps the session of a place; "" removes it. It replaces the file at once, so that a crash loses
// none.
func (f *File) Store(place, session string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return err
	}
	all[place] = session
	if session == "" {
		delete(all, place)
	}
	text, err := json.Marshal(all)
	if err != nil { // texts always marshal
		return fmt.Errorf("encode sessions: %w", err)
	}
	next, err := os.CreateTemp(filepath.Dir(f.path), ".sessions-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("keep a session: %w", err)
	}
	defer func() { _ = os.Remove(next.Name()) }()
	_, err = next.Write(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("keep a session: %w", err)
	}
	return nil
}

func (f *File) read() (map[string]string, error) {
	all := make(map[string]string)
	text, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the sessions: %w", err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return all, nil
	}
	if json.Unmarshal(text, &all) != nil || all == nil { // the error may quote a session; null has no map
		return nil, fmt.Errorf("read the sessions: %q is no JSON object of texts; delete it to forget all places",
			f.path)
	}
	return all, nil
}
