package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/waitroom/waitroom/templates/locales"
)

// checkedFile has a line for each text: its name, and a digest of it in each of its languages, as they were
// when the others were last compared with the Korean. As seen from the module's root.
const checkedFile = "templates/locales/checked.sum"

// checked maps the name of a text to its digests, in the order of its languages; the first is the Korean's.
type checked map[string][]string

func parseChecked(file string) checked {
	read := checked{}
	for line := range strings.Lines(file) {
		if name, digests, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			read[name] = strings.Fields(digests)
		}
	}
	return read
}

func (c checked) String() string {
	var file strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c)) {
		file.WriteString(name + " " + strings.Join(c[name], " ") + "\n")
	}
	return file.String()
}

// renewed returns the lines for the texts as they are. A text whose Korean has changed keeps its old line,
// and is stale, until its other languages have changed too, or it is among those that a person has compared.
func (c checked) renewed(now checked, compared []string) (renewed checked, stale []string) {
	renewed = checked{}
	for name, digests := range now {
		old := same(c[name], digests)
		if len(old) == 0 || slices.Contains(compared, name) {
			renewed[name] = digests
			continue
		}
		renewed[name] = c[name]
		stale = append(stale, fmt.Sprintf("%s: the Korean has changed, and %s not", name, strings.Join(old, ", ")))
	}
	slices.Sort(stale)
	return renewed, stale
}

// same returns the languages whose text has not changed, if the Korean has. A text without a line is new.
func same(old, now []string) (languages []string) {
	if len(old) != len(now) || old[0] == now[0] {
		return nil
	}
	for i := 1; i < len(now); i++ {
		if old[i] == now[i] {
			languages = append(languages, locales.Languages()[i])
		}
	}
	return languages
}

// digests returns what checkedFile would have if all translations were right.
func digests(catalogue locales.Entry) checked {
	found := checked{}
	found.add(catalogue, "")
	return found
}

func (c checked) add(e locales.Entry, at string) {
	if e.Texts[locales.Languages()[0]] != "" {
		for _, lang := range locales.Languages() {
			if text, ok := e.Texts[lang]; ok {
				sum := sha256.Sum256([]byte(text))
				c[at] = append(c[at], hex.EncodeToString(sum[:4]))
			}
		}
	}
	for _, part := range e.Parts {
		c.add(part, path.Join(at, part.Key))
	}
	for n, item := range e.Items {
		c.add(item, path.Join(at, strconv.Itoa(n)))
	}
}
