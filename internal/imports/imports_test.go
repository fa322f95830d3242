// Package imports tests the one direction in which packages may import each other.
package imports

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/waitroom/waitroom"

// mayImport is the table: each package of the top level, with those of ours that it may import directly. A
// directory's subpackages count as the directory, but for floors.
var mayImport = map[string][]string{
	"cmd": {"server", "client"},
	"server": {"web", "hub", "sms", "ledger", "ledger/history", "ledger/read", "ledger/schema", "ledger/trim",
		"outbox", "room", "room/seal", "room/smstext", "room/wire", "templates", "static", "internal/origin",
		"internal/similar", "internal/sqldb"},
	"web": {"room", "room/wire", "sms", "ledger/history", "templates", "internal/origin",
		"internal/similar"},
	"hub": {"room", "room/storeclock", "room/wire", "internal/origin"},
	"sms": {"room", "room/smstext"},
	"ledger": {"ledger/read", "ledger/schema", "ledger/trim", "room", "room/smstext", "outbox",
		"internal/sqldb"},
	"ledger/history":   {}, // and nothing but the standard library
	"ledger/read":      {"ledger/history", "ledger/schema", "room/wire", "internal/similar", "internal/sqldb"},
	"ledger/trim":      {"ledger/schema", "room/wire", "outbox", "internal/sqldb"},
	"ledger/schema":    {"room/wire", "internal/sqldb"},
	"client":           {},
	"lock":             {"room"},
	"room":             {"room/seal", "room/smstext", "room/storeclock", "room/wire"},
	"room/seal":        {},
	"room/smstext":     {},
	"room/storeclock":  {},
	"room/wire":        {}, // and nothing but the standard library
	"outbox":           {"internal/sqldb"},
	"templates":        {"room/wire", "ledger/history"},
	"static":           {},
	"docs":             {"client"},         // examples for users of the product, which run without the server
	"internal":         {"internal/sqldb"}, // support for tests: no product code imports it
	"internal/origin":  {},
	"internal/similar": {},
	"internal/sqldb":   {},
}

// floors are directories inside others that are importers of their own: several packages depend on them.
var floors = []string{"ledger/history", "ledger/read", "ledger/schema", "ledger/trim", "room/seal",
	"room/smstext", "room/storeclock", "room/wire", "internal/origin", "internal/similar", "internal/sqldb"}

// testOnly, for tests and code generators, must not be part of what is shipped.
var testOnly = []string{
	"github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/chromedp/chromedp",
	"github.com/oauth2-proxy/mockoidc",
	"github.com/evanw/esbuild", "github.com/andybalholm/brotli", "github.com/yuin/goldmark",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/makiuchi-d/gozxing",
}

// top returns the floor or the first directory of one of our packages, "" for any other.
func top(path string) string {
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	for _, floor := range floors {
		if rest == floor || strings.HasPrefix(rest, floor+"/") {
			return floor
		}
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func TestImportsRunOneWay(t *testing.T) {
	for importer, p := range ourPackages(t, "") {
		allowed, known := mayImport[top(importer)]
		require.True(t, known, "%s is not in the table of packages", importer)
		for _, imported := range p.imports {
			to := top(imported)
			if to == "" || to == top(importer) {
				continue
			}
			require.Contains(t, allowed, to, "%s must not import %s", importer, imported)
		}
	}
}

func TestNothingThatIsShippedNeedsATestLibrary(t *testing.T) {
	for _, path := range needs(t, "cmd", "lock", "outbox") {
		isTestOnly := slices.ContainsFunc(testOnly, func(p string) bool {
			return path == p || strings.HasPrefix(path, p+"/")
		})
		require.False(t, isTestOnly, "%s is part of the product", path)
		require.NotEqual(t, "internal", top(path), "%s is part of the product", path)
	}
}

// drivers are the packages that a program using one of our libraries chooses itself.
var drivers = []string{"github.com/jackc/pgx/v5", "modernc.org/sqlite", "github.com/go-sql-driver/mysql",
	"github.com/pressly/goose/v3", "github.com/redis/go-redis/v9"}

func TestTheOutboxBringsNoDriver(t *testing.T) { requireNoDriver(t, "outbox") }

func TestWhatTheEngineStandsOnBringsNoDriver(t *testing.T) {
	for _, dir := range []string{"room/seal", "room/smstext", "room/storeclock", "room/wire"} {
		requireNoDriver(t, dir)
	}
}

func requireNoDriver(t *testing.T, dir string) {
	t.Helper()
	for _, path := range needs(t, dir) {
		isDriver := slices.ContainsFunc(drivers, func(p string) bool {
			return path == p || strings.HasPrefix(path, p+"/")
		})
		require.False(t, isDriver, "package %s needs %s", dir, path)
	}
}

// Reading a ledger needs no room's store, nor the metrics of a server.
func TestReadingTheLedgerNeedsNoEngine(t *testing.T) {
	for _, path := range needs(t, "ledger/read", "ledger/schema") {
		for _, other := range []string{"github.com/redis/", "github.com/prometheus/", module + "/outbox"} {
			require.False(t, strings.HasPrefix(path, other), "package ledger/read needs %s", path)
		}
		require.NotEqual(t, module+"/room", path)
	}
}

// The lab has dependencies that the product does not have. Its module requires the product's, and no module
// requires the lab.
func TestTheProductKnowsNothingOfTheLab(t *testing.T) {
	for importer, p := range ourPackages(t, "") {
		for _, imported := range slices.Concat(p.imports, p.tests) {
			require.NotEqual(t, "lab", top(imported), "%s needs %s", importer, imported)
		}
	}
}
