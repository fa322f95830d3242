package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comparedWith is the first line of a page in Korean: the English page that it was compared with, by digest.
var comparedWith = regexp.MustCompile(`^<!-- (\S+\.md) ([0-9a-f]{12}) -->\n\n?# `)

// korean returns the pages in Korean, each with the English page that it follows and the digest of that.
func korean(t *testing.T) map[string][2]string {
	found := map[string][2]string{}
	for _, page := range pages(t) {
		if page != "README.ko.md" && filepath.ToSlash(filepath.Dir(page)) != "docs/ko" {
			continue
		}
		line := comparedWith.FindStringSubmatch(read(t, page))
		require.NotNil(t, line, "%s: its first line has to be <!-- PAGE.md DIGEST -->", page)
		found[page] = [2]string{line[1], line[2]}
	}
	require.Len(t, found, 4)
	return found
}

func TestPagesInKoreanHaveBeenComparedWithTheEnglishAsItIs(t *testing.T) {
	for page, english := range korean(t) {
		sum := sha256.Sum256([]byte(read(t, english[0])))
		now := hex.EncodeToString(sum[:6])
		require.Equal(t, now, english[1], "%[2]s has changed since %[1]s was compared with it (git log -p %[2]s). "+
			"Change %[1]s where it says the same, then write into its first line: <!-- %[2]s %[3]s -->", page,
			english[0], now)
	}
}

// A guide's commands are run by a test in the English page.
func TestGuidesInKoreanHaveTheCommandsOfTheEnglish(t *testing.T) {
	for page, english := range korean(t) {
		if strings.Contains(page, "guide-") {
			require.Equal(t, fenced.FindAllString(read(t, english[0]), -1), fenced.FindAllString(read(t, page), -1),
				page)
		}
	}
}

// A page in Korean is for readers who do not read English: its prose and headings are Korean, beside names.
func TestPagesInKoreanAreInKorean(t *testing.T) {
	hangul := regexp.MustCompile(`\p{Hangul}`)
	for page := range korean(t) {
		text := fenced.ReplaceAllString(read(t, page), "")
		for _, paragraph := range strings.Split(text, "\n\n")[1:] {
			named := strings.TrimSpace(paragraph) == "" || paragraph == "# waitroom"
			require.True(t, named || hangul.MatchString(paragraph), "%s: %s", page, paragraph)
		}
	}
}
