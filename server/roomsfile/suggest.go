package roomsfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// isKey reports whether an entry may have such a key.
func isKey(name string) bool { return slices.Contains(namesIn(""), name) }

func isGroup(name string) bool { return len(namesIn(name+".")) > 0 }

// namesIn are the keys under a name with a dot; "" are those of an entry.
func namesIn(within string) (names []string) {
	for _, k := range keys() {
		rest, ok := strings.CutPrefix(k.name, within)
		name, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var word = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{0,31}$`)

// unknown says that a key is none, and which may be meant. What looks like no key is not repeated: it may be a secret.
func unknown(name, within string) string {
	said := "a key that is none"
	if word.MatchString(name) {
		said = within + name + " is no key"
	}
	if meant := nearest(name, namesIn(within)); meant != "" {
		return fmt.Sprintf("%s: do you mean %s%s?", said, within, meant)
	}
	return fmt.Sprintf("%s: the keys are %s", said, strings.Join(namesIn(within), ", "))
}

// nearest is the one of some names that is likely meant; "" where none is.
func nearest(name string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	name = plain.Replace(strings.ToLower(name))
	best, least := "", len(name)/3+1
	for _, other := range names {
		if d := distance(name, plain.Replace(other)); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added or taken away; two that have changed places are one.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
