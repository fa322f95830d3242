package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The linker does not report a missing variable.
func TestVersionIsStampedOnAVariableThatThereIs(t *testing.T) {
	source, err := os.ReadFile("commands.go")
	require.NoError(t, err)
	stamp := regexp.MustCompile(`-X '?main\.(\w+)=`)
	for _, file := range []string{"../../Dockerfile", "../../scripts/release.sh"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := stamp.FindSubmatch(text)
		require.NotNil(t, names, file)
		require.Contains(t, string(source), "\nvar "+string(names[1])+" string\n", file)
	}
}
