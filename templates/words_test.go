package templates_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// wordsTable is the table that holds the Go words and the browser's to each other.
type wordsTable struct {
	Estimate []struct {
		Seconds int
		Ko, En  string
	}
	Span []struct {
		Seconds int
		Ko, En  string
	}
	Sentence []struct {
		Estimated, Maximum *int
		Ko, En             string
	}
	Ahead []struct {
		Position int
		Ko, En   string
	}
	When []struct {
		Hour, Minute int
		Ko, En       string
	}
	Stamp []struct {
		At, After int64
		Format    string
		Text      string
	}
	Clock []struct {
		Milliseconds int64
		Text         string
	}
}

func TestWaitsAreSaidAsTheTableSays(t *testing.T) {
	content, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	var table wordsTable
	require.NoError(t, json.Unmarshal(content, &table))

	for _, row := range table.Estimate {
		require.Equal(t, row.Ko, templates.EstimateWords("ko", row.Seconds))
		require.Equal(t, row.En, templates.EstimateWords("en", row.Seconds))
	}
	for _, row := range table.Span {
		require.Equal(t, row.Ko, templates.SpanWords("ko", row.Seconds))
		require.Equal(t, row.En, templates.SpanWords("en", row.Seconds))
	}
	for _, row := range table.Sentence {
		require.Equal(t, row.Ko, templates.WaitSentence("ko", row.Estimated, row.Maximum))
		require.Equal(t, row.En, templates.WaitSentence("en", row.Estimated, row.Maximum))
	}
	for _, row := range table.Ahead {
		require.Equal(t, row.Ko, templates.AheadWords("ko", row.Position))
		require.Equal(t, row.En, templates.AheadWords("en", row.Position))
	}
	for _, row := range table.When {
		require.Equal(t, row.Ko, templates.WhenWords("ko", row.Hour, row.Minute))
		require.Equal(t, row.En, templates.WhenWords("en", row.Hour, row.Minute))
	}
	for _, row := range table.Stamp {
		require.Equal(t, row.Text, templates.Stamp(row.At, row.After, row.Format))
	}
	for _, row := range table.Clock {
		require.Equal(t, row.Text, templates.Clock(row.Milliseconds))
	}
}
