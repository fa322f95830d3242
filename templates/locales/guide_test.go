package locales

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guide returns the agents' guide in Korean, without its first line, and every text of the catalogue in Korean.
func guide(t *testing.T) (page string, texts map[string]string) {
	t.Helper()
	read, err := os.ReadFile(root + "/docs/ko/support.md")
	require.NoError(t, err)
	catalogue, err := Read()
	require.NoError(t, err)
	texts = map[string]string{}
	catalogue.in("ko", "", texts)
	return string(read), texts
}

var named = regexp.MustCompile(`‘([^‘’]+)’`)

// screens are the headings of the guide's columns that quote the screen: the desk's, or the seller's.
var screens = []string{"표시", "처리", "판매자 화면", "기록의 문장"}

// quotes returns what a page says is on a screen: names in quotes, and the cells of columns that quote it.
func quotes(page string) (list []string) {
	for _, name := range named.FindAllStringSubmatch(strings.Join(strings.Fields(page), " "), -1) {
		list = append(list, name[1])
	}
	var columns []string
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = nil
		case columns == nil:
			columns = cells
		case !strings.HasPrefix(line, "| ---"):
			for n, column := range columns {
				if slices.Contains(screens, column) {
					list = append(list, strings.FieldsFunc(cells[n], func(r rune) bool {
						return strings.ContainsRune("·….,", r)
					})...)
				}
			}
		}
	}
	return list
}

// An agent reads the guide beside the screen, and reads the screen out on the telephone.
func TestTheAgentsGuideQuotesTheScreenAsItIs(t *testing.T) {
	page, texts := guide(t)
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(text + "\n")
	}
	for _, quote := range quotes(page) {
		quote = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(quote), "○○님이"))
		require.True(t, strings.Contains(all.String(), quote), "docs/ko/support.md quotes “%s”: no screen says it", quote)
	}
}

func TestTheAgentsGuideExplainsEveryActionReasonAndTrouble(t *testing.T) {
	page, texts := guide(t)
	said := quotes(page)
	for at, text := range texts {
		for _, table := range []string{"desk/live/act/", "desk/reasons/", "desk/live/troubles/"} {
			verb, title := strings.CutSuffix(at, "/yes")
			if strings.HasPrefix(at, table) && (title || !strings.HasPrefix(at, "desk/live/act/")) {
				require.True(t, slices.ContainsFunc(said, func(quote string) bool {
					return strings.TrimSpace(quote) == text
				}), "docs/ko/support.md does not explain %s: %s", verb, text)
			}
		}
	}
}
