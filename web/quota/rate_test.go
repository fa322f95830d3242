package quota

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRateIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]Rate{
		"0": {}, "100/s": {100, 1000}, "30/m": {0.5, 5}, "1/m": {1.0 / 60, 1}, "0.5/s": {0.5, 5},
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}
