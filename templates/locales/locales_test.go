package locales

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestEveryTextIsThereInEveryLanguage(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	require.NotEmpty(t, catalogue.Parts)
}

func catalogueOf(content string) (Entry, error) {
	return read(fstest.MapFS{"docs.yaml": {Data: []byte(content)}})
}

func TestTextThatIsNotInOrderIsNamed(t *testing.T) {
	for content, wrong := range map[string]string{
		"join:\n  ko: \"준비 완료\"":                                  "docs.yaml: join: en is missing",
		"join:\n  ko: \"준비 완료\"\n  en: \"\"":                      "join: no text in en",
		"join:\n  ko: \"준비\"\n  en: \"Ready\"\n  fr: \"Prêt\"":    "join: fr is no language of it",
		"join:\n  all: \"·\"\n  en: \"·\"":                        "join: en is no language of it",
		"join: \"Ready\"":                                         "join: Ready is in no language",
		"join:\n  ko: 1\n  en: \"1\"":                             "join: no text in ko",
		"why:\n  - ko: \"하나\"":                                    "why: item 1: en is missing",
		"errors by code:\n  other:\n    title:\n      en: \"No\"": "errors by code: other: title: ko is missing",
		"a:\n  all: \"1\"\na:\n  all: \"2\"":                      `"a" already defined`,
		"a by x:\n  b:\n    all: \"1\"\na:\n  all: \"2\"":         "docs/a is there twice",
	} {
		_, err := catalogueOf(content)
		require.ErrorContains(t, err, wrong)
	}
}

func TestSellersTextsExistInEveryLanguageAndOthersInTwo(t *testing.T) {
	const two = "by:\n  ko: \"가\"\n  en: \"a\"\n"
	readAs := func(name, content string) error {
		_, err := read(fstest.MapFS{name: {Data: []byte(content)}})
		return err
	}
	for _, name := range []string{"page.yaml", "live.yaml", "link.yaml", "problems.yaml", "desks.yaml"} {
		for _, lang := range []string{"ja", "zh-Hans", "vi"} {
			require.ErrorContains(t, readAs(name, two), lang+" is missing", name)
		}
	}
	for _, name := range []string{"docs.yaml", "desk.yaml", "desk/live.yaml"} {
		require.NoError(t, readAs(name, two), name)
		require.ErrorContains(t, readAs(name, two+"  ja: \"あ\"\n"), "ja is no language of it", name)
	}
	require.NoError(t, readAs("problems.yaml", "desk by code:\n  internal:\n    ko: \"가\"\n    en: \"a\"\n"))
}

func TestEntryIsReadInEnglishWhereItHasNotTheLanguage(t *testing.T) {
	catalogue, err := catalogueOf("by:\n  ko: \"가\"\n  en: \"a\"\n")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"docs": map[string]any{"by": "a"}}, catalogue.In("ja"))
}

func TestEntryIsReadInOneLanguage(t *testing.T) {
	catalogue, err := catalogueOf("join:\n  ko: \"준비 완료\"\n  en: \"Ready\"\nno:\n  all: \"·\"\nwhy:\n  - ko: " +
		"\"하나\"\n    en: \"One\"\n" +
		"ended by outcome:\n  off:\n    ko: \"끔\"\n    en: \"Off\"\n  other:\n    ko: \"끝\"\n    en: \"Over\"\n")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"docs": map[string]any{
		"join": "Ready", "no": "·", "why": []any{"One"}, "ended": map[string]any{"off": "Off", "": "Over"},
	}}, catalogue.In("en"))
}

var placeholder = regexp.MustCompile(`\{(\w+)`)

func TestTextWantsTheSameValuesInEveryLanguage(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	wanted := 0
	each(catalogue, "", func(path string, text Entry) {
		for lang, shown := range text.Texts {
			require.Equal(t, values(text.Texts[Languages()[0]]), values(shown), "%s in %s", path, lang)
			wanted += len(values(shown))
		}
	})
	require.NotZero(t, wanted)
}

// values returns the names of a text's placeholders, each once. An hour counts as one name, whether the
// language writes 12 or 24 hours.
func values(text string) []string {
	var names []string
	for _, part := range placeholder.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.Replace(part[1], "hh", "h", 1))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// each visits every text that is not the same in all languages.
func each(e Entry, path string, visit func(path string, text Entry)) {
	if _, same := e.Texts[everywhere]; e.Texts != nil && !same {
		visit(path, e)
	}
	for _, part := range slices.Concat(e.Parts, e.Items) {
		each(part, strings.Trim(path+"/"+part.Key, "/"), visit)
	}
}

var inQuotes = regexp.MustCompile(`[‘“]([^‘“”]{1,16})[’”]`)

// In a narrow window a browser would break "‘인증 완료’" over two lines. A path through menus may be broken at
// its arrows, and a spoken text has no lines.
func TestButtonsNameInASentenceStaysOnOneLine(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	named := 0
	each(catalogue, "", func(path string, text Entry) {
		if strings.Contains(path, "/say_") {
			return
		}
		for lang, shown := range text.Texts {
			for _, name := range inQuotes.FindAllStringSubmatch(shown, -1) {
				require.False(t, strings.Contains(name[1], " ") && !strings.Contains(name[1], "→"), "%s in %s: %q", path,
					lang, shown)
				named++
			}
		}
	})
	require.NotZero(t, named)
}
