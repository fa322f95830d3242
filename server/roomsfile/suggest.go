package roomsfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/internal/similar"
)

// isKey reports whether an entry has a key of this name.
func isKey(name string) bool { return slices.Contains(namesIn(""), name) }

func isGroup(name string) bool { return len(namesIn(name+".")) > 0 }

// namesIn returns the keys under a name with a dot; "" for those of an entry.
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

// unknown returns the message for an unknown key, with a suggestion. Text unlike a key is not repeated: it
// may be a secret.
func unknown(name, within string) string {
	problem := "a key that is none"
	if word.MatchString(name) {
		problem = within + name + " is no key"
	}
	if meant := nearest(name, namesIn(within)); meant != "" {
		return fmt.Sprintf("%s: do you mean %s%s?", problem, within, meant)
	}
	return fmt.Sprintf("%s: the keys are %s", problem, strings.Join(namesIn(within), ", "))
}

// nearest returns the most similar name; "" without one.
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
