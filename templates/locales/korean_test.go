package locales

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// korean adds all Korean texts of an area, by their place in the catalogue.
func (e Entry) korean(at string, into map[string]string) {
	if text := e.Texts["ko"]; text != "" {
		into[at] = text
	}
	for _, part := range e.Parts {
		part.korean(path.Join(at, part.Key), into)
	}
	for i, item := range e.Items {
		item.korean(path.Join(at, string(rune('0'+i))), into)
	}
}

// word is the desk's name for a thing, and its forbidden synonyms.
type word struct {
	thing, is string
	not       []string
}

// wordsOfTheDesk reads the table of CONTRIBUTING.md.
func wordsOfTheDesk(t *testing.T) (words []word) {
	t.Helper()
	text, err := os.ReadFile(root + "/CONTRIBUTING.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| thing | word | not |\n| --- | --- | --- |\n")
	require.True(t, found)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 {
			break
		}
		words = append(words, word{cells[0], cells[1], strings.Split(cells[2], ", ")})
	}
	require.NotEmpty(t, words)
	return words
}

func TestDeskUsesOneKoreanWordForOneThing(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	shown := map[string]string{}
	for _, area := range catalogue.Parts {
		if area.Key == "desk" || area.Key == "problems" {
			area.korean(area.Key, shown)
		}
	}
	all := ""
	for _, text := range shown {
		all += text + "\n"
	}
	for _, w := range wordsOfTheDesk(t) {
		require.Contains(t, all, w.is, "nobody calls %s so", w.thing)
		for at, text := range shown {
			for _, stray := range w.not {
				require.NotContains(t, text, stray, "%s: %s is called %s", at, w.thing, w.is)
			}
		}
	}
}
