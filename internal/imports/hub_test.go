package imports

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// insideHub lists which of our packages those under hub may import. The hub itself imports all of them.
var insideHub = map[string][]string{
	"hub/mirror": {"room/wire"},
	"hub/follow": {"room", "room/storeclock"},
	"hub/socket": {},
	"hub/frame":  {},
	"hub/batch":  {"hub/follow"},
	"hub/desk":   {"hub/follow", "hub/frame", "hub/mirror", "hub/socket", "room", "room/storeclock"},
	"hub/links":  {"hub/mirror", "room"},

	"hub/presence": {"hub/batch", "hub/follow", "room"},
}

// impure are packages that a mirror must not import: it makes no calls, never waits and reads no clock.
var impure = []string{"context", "net", "net/http", "os", "sync", "sync/atomic", "log/slog",
	"github.com/redis/go-redis/v9"}

func TestPackagesInsideTheHubKnowNothingOfEachOther(t *testing.T) {
	for name, allowed := range insideHub {
		imported := packages(t)[module+"/"+name].imports
		require.NotEmpty(t, imported)
		for _, path := range imported {
			if rest, ours := strings.CutPrefix(path, module+"/"); ours {
				require.Contains(t, allowed, rest, "%s must not import it", name)
			}
			if name == "hub/mirror" {
				require.False(t, slices.Contains(impure, path), "a mirror must not import %s", path)
			}
		}
	}
}
