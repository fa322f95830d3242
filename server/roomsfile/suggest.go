package roomsfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/internal/similar"
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

// unknown says that a key is none, and which may be meant. What looks like no key is not repeated: it may be
// a secret.
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
		if d := similar.Distance(name, plain.Replace(other)); d < least {
			best, least = other, d
		}
	}
	return best
}
