package haproxytest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryBackendOfTheDocumentedConfigurationNamesAllReplicasAndNothingElseIsChanged(t *testing.T) {
	documented, err := os.ReadFile("../../../docs/haproxy.cfg")
	require.NoError(t, err)
	config, err := Config("../../..", "127.0.0.1:1", []string{"127.0.0.1:2", "127.0.0.1:3"})
	require.NoError(t, err)
	require.Contains(t, string(config), "bind 127.0.0.1:1\n")
	require.Contains(t, string(config), "server replica-1 127.0.0.1:2\n  server replica-2 127.0.0.1:3\n")
	require.Contains(t, string(config), "server replica-1 127.0.0.1:2 track requests/replica-1\n  server "+
		"replica-2 127.0.0.1:3 track requests/replica-2\n")
	require.NotContains(t, string(config), "10.0.0.")
	require.Contains(t, string(documented), MinDrain)
}
