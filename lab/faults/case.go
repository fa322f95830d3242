package faults

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// kept has what is needed besides a history to check it again.
type kept struct {
	Rules  Rules
	Ledger Ledger
}

// keepCase writes it beside the history.
func keepCase(dir string, rules Rules, ledger Ledger) error {
	text, err := json.MarshalIndent(kept{rules, ledger}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "case.json"), text, 0o600)
}

// CheckAgain checks a kept history once more, without the rules that only a running system can check.
func CheckAgain(dir string) ([]Violation, error) {
	records, err := ReadHistory(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return nil, err
	}
	var c kept
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	return Check(records, c.Ledger, c.Rules), nil
}
