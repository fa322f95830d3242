package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// OldVersion is a Chromium among the oldest that the pages are for: it has neither :has() nor :modal.
const OldVersion = "103.0.0" // as in scripts/old-chromium.sh

// Old is New for that Chromium, which no other test shares.
func Old(tb testing.TB) context.Context {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatalf("browsertest: %v", err)
	}
	program := filepath.Join(cache, "waitroom", "chromium-"+OldVersion, "chromium")
	if _, err := os.Stat(program); err != nil {
		tb.Fatalf("Chromium %s is not there: run `scripts/setup.sh alone`: %v", OldVersion, err)
	}
	return start(tb, []string{program}, nil)
}
