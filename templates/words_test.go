package templates_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// wordsTable has examples that the texts made in Go and in the browser both have to give.
type wordsTable struct {
	Estimate, Span, Sentence, Ahead, Place, When, Opens []wordsRow
	Stamp                                               []struct {
		At, After int64
		Format    string
		Text      string
	}
	Clock []struct {
		Milliseconds int64
		Text         string
	}
}

// wordsRow is one example in each language, with the fields of its part of the table.
type wordsRow struct {
	Seconds, Position, Hour, Minute int
	Spread, Left                    float64
	Estimated, Maximum              *int
	At, Now                         time.Time
	Ko, En, Ja, Vi                  string
	ZhHans                          string `json:"zh-Hans"`
}

func (r wordsRow) texts() map[string]string {
	return map[string]string{"ko": r.Ko, "en": r.En, "ja": r.Ja, "zh-Hans": r.ZhHans, "vi": r.Vi}
}

func TestWaitsAreWrittenAsInTheTable(t *testing.T) {
	content, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	var table wordsTable
	require.NoError(t, json.Unmarshal(content, &table))

	for _, part := range []struct {
		rows  []wordsRow
		shown func(lang string, r wordsRow) string
	}{
		{table.Estimate, func(lang string, r wordsRow) string { return templates.EstimateWords(lang, r.Seconds) }},
		{table.Span, func(lang string, r wordsRow) string { return templates.SpanWords(lang, r.Seconds) }},
		{table.Sentence, func(lang string, r wordsRow) string {
			return templates.WaitSentence(lang, r.Estimated, r.Maximum,
				templates.Usual{Position: r.Position, Spread: r.Spread, Left: r.Left})
		}},
		{table.Ahead, func(lang string, r wordsRow) string { return templates.AheadWords(lang, r.Position) }},
		{table.Place, func(lang string, r wordsRow) string { return templates.PlaceWords(lang, r.Position) }},
		{table.When, func(lang string, r wordsRow) string { return templates.WhenWords(lang, r.Hour, r.Minute) }},
		{table.Opens, func(lang string, r wordsRow) string { return templates.OpensWords(lang, r.At, r.Now) }},
	} {
		require.NotEmpty(t, part.rows)
		for _, row := range part.rows {
			for _, lang := range templates.Languages() {
				require.Equal(t, row.texts()[lang], part.shown(lang, row), lang)
			}
		}
	}
	for _, row := range table.Stamp {
		require.Equal(t, row.Text, templates.Stamp(row.At, row.After, row.Format))
	}
	for _, row := range table.Clock {
		require.Equal(t, row.Text, templates.Clock(row.Milliseconds))
	}
}
