package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPageHasTheRecordsThatAreDeclared(t *testing.T) {
	text, err := os.ReadFile("../../../" + page)
	require.NoError(t, err)
	want, err := withTables(text, "..")
	require.NoError(t, err)
	require.Equal(t, string(want), string(text), "run make generate")
}
