package locales

import (
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// in adds all texts of an area in one language, by their place in the catalogue. Spaces within a button's
// name are plain ones.
func (e Entry) in(lang, at string, into map[string]string) {
	if text := e.Texts[lang]; text != "" {
		into[at] = strings.ReplaceAll(text, "\u00a0", " ")
	}
	for _, part := range e.Parts {
		part.in(lang, path.Join(at, part.Key), into)
	}
	for i, item := range e.Items {
		item.in(lang, path.Join(at, strconv.Itoa(i)), into)
	}
}

// word is the name of a thing, and its forbidden synonyms.
type word struct {
	thing, is string
	not       []string
}

// wordsOf reads the table below a heading of docs/words.md.
func wordsOf(t *testing.T, heading string) (words []word) {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/words.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## "+heading+"\n\n| thing | word | not |\n| --- | --- | --- |\n")
	require.True(t, found, heading)
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

// requireWords demands of texts that they use a table's words, and none of those beside them. Both ignore the
// case of a letter. A word of the table may contain a forbidden one, as "hàng chờ" does "hàng".
func requireWords(t *testing.T, words []word, texts map[string]string) {
	t.Helper()
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(strings.ToLower(text) + "\n")
	}
	for _, w := range words {
		require.Contains(t, all.String(), strings.ToLower(w.is), "nothing calls %s so", w.thing)
		for _, stray := range w.not {
			stray = strings.ToLower(stray)
			allowed := containing(words, stray)
			for at, text := range texts {
				require.NotContains(t, allowed.Replace(strings.ToLower(text)), stray, "%s: %s is called %s", at,
					w.thing, w.is)
			}
		}
	}
}

// containing removes the words of a table that contain a text.
func containing(words []word, text string) *strings.Replacer {
	var longer []string
	for _, w := range words {
		if is := strings.ToLower(w.is); strings.Contains(is, text) {
			longer = append(longer, is, "")
		}
	}
	return strings.NewReplacer(longer...)
}

// quoted is what a programmer reads within a text: names of fields and settings, such as queue_length.
var quoted = regexp.MustCompile(`[a-z]+(?:_[a-z]+)+|\{[^}]*\}`)

func TestPagesUseOneWordForOneThing(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	for lang, heading := range map[string]string{"ko": "Korean", "en": "English", "ja": "Japanese",
		"zh-Hans": "Simplified Chinese", "vi": "Vietnamese"} {
		texts := map[string]string{}
		for _, area := range catalogue.Parts {
			if area.Key != "desk" && area.Key != "docs" {
				area.in(lang, area.Key, texts)
			}
		}
		for at, text := range texts {
			if strings.HasPrefix(at, "problems/desk/") || strings.HasPrefix(at, "problems/ledger_refused/") {
				delete(texts, at)
			} else {
				texts[at] = quoted.ReplaceAllString(text, "")
			}
		}
		requireWords(t, wordsOf(t, heading), texts)
	}
}

func TestDeskUsesOneKoreanWordForOneThing(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	texts := map[string]string{}
	for _, area := range catalogue.Parts {
		if area.Key == "desk" || area.Key == "problems" {
			area.in("ko", area.Key, texts)
		}
	}
	page, _ := guide(t)
	for n, line := range strings.Split(page, "\n") {
		texts["docs/ko/support.md:"+strconv.Itoa(n+1)] = line
	}
	requireWords(t, wordsOf(t, "Korean, the desk"), texts)
}
