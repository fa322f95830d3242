package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Edit replaces a text, which a file of the checkout has once, by another one in a build.
type Edit struct{ File, From, To string }

// Change returns an Edit.
func Change(file, from, to string) Edit { return Edit{File: file, From: from, To: to} }

// Overlay writes the changed files into dir, and returns the list for go build -overlay. The checkout stays
// as it is.
func Overlay(root, dir string, edits []Edit) (list string, err error) {
	replace := map[string]string{}
	for _, e := range edits {
		path, changed, err := e.apply(root, dir)
		if err != nil {
			return "", err
		}
		replace[path] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// apply writes the changed file into dir.
func (e Edit) apply(root, dir string) (path, changed string, err error) {
	if path, err = filepath.Abs(filepath.Join(root, filepath.FromSlash(e.File))); err != nil {
		return "", "", err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if bytes.Count(source, []byte(e.From)) != 1 {
		return "", "", fmt.Errorf("%s has changed: it must have %q once", path, e.From)
	}
	changed = filepath.Join(dir, filepath.Base(e.File))
	return path, changed, os.WriteFile(changed, bytes.Replace(source, []byte(e.From), []byte(e.To), 1), 0o600)
}
