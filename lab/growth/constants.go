package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The kinds of constants: what was measured, what sellers are taken to do and machines let carry, what
// waitroom has as its settings, and where others' products end.
const (
	measured = "measured"
	assumed  = "assumed"
	setting  = "setting"
	limit    = "limit"
)

// constant is one number on which the computation is based.
type constant struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Kind    string  `json:"kind"`
	What    string  `json:"what"`
	Command string  `json:"command,omitempty"` // that measures it
}

// constants is the content of the constants' file.
type constants struct {
	Machine string     `json:"machine"` // on which the measured ones were measured
	List    []constant `json:"constants"`
}

// readConstants reads the file. It has to name each used constant once, and no other.
func readConstants(path string) (c constants, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, c.check()
}

func (c constants) check() error {
	var have []string
	for _, k := range c.List {
		if slices.Contains(have, k.Name) {
			return fmt.Errorf("constant %s is there twice", k.Name)
		}
		if k.Value < 0 || k.Unit == "" || k.What == "" ||
			!slices.Contains([]string{measured, assumed, setting, limit}, k.Kind) ||
			(k.Kind == measured) != (k.Command != "") {
			return fmt.Errorf("constant %s: want a value from 0 on, a unit, what it is and its kind, and a "+
				"command where it is measured", k.Name)
		}
		have = append(have, k.Name)
	}
	var n numbers
	for _, f := range n.fields() {
		if !slices.Contains(have, f.name) {
			return fmt.Errorf("constant %s is missing", f.name)
		}
	}
	if len(have) != len(n.fields()) {
		return fmt.Errorf("%d constants, of which %d are used", len(have), len(n.fields()))
	}
	return nil
}

func (c constants) write(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// set replaces values, for example those of another run: NAME=VALUE, separated by commas.
func (c constants) set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(c.List, func(k constant) bool { return k.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no constant %q", name)
		}
		if _, err := fmt.Sscanf(number, "%g", &c.List[i].Value); err != nil {
			return fmt.Errorf("%s=%s: give a number", name, number)
		}
	}
	return c.check()
}

// numbers returns the values for the computation.
func (c constants) numbers() (n numbers) {
	for _, f := range n.fields() {
		i := slices.IndexFunc(c.List, func(k constant) bool { return k.Name == f.name })
		*f.at = c.List[i].Value
	}
	return n
}
