package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates/locales"
)

func TestTypesAreThoseOfTheCatalogue(t *testing.T) {
	catalogue, err := locales.Read()
	require.NoError(t, err)
	want, err := generate(catalogue)
	require.NoError(t, err)
	have, err := os.ReadFile("../../../" + types)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run make generate")
}
