// Package locales reads the catalogue of words: every text that a person reads on pages, in
// problems and from JavaScript.
//
// A file is an area, and one in a directory is a part of the area of that name. An entry is a text with its
// languages one under another, a group of entries, or a list:
//
//	join:
//	  ko: "준비 완료"
//	  en: "I’m ready"
//	  ja: …
//	sep:
//	  all: " · "          # the same in every language
//	outcomes by outcome:  # named by words of the contract; other is every other word
//	  expired: …
//	  other: …
//
// {name} stands for a value, {name:one:other} for a number with its noun: "{n:person:people}".
//
// Sellers' texts exist in every language; the texts of support and programmers exist in two, and a reader of
// another language gets them in English.
package locales

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed *.yaml desk/*.yaml
var files embed.FS

// everywhere marks a text that is the same in all languages.
const everywhere = "all"

// english is the language of a text that does not exist in the reader's.
const english = "en"

// Languages returns the languages of sellers' texts as BCP 47 tags; the first is the product's own.
func Languages() []string { return []string{"ko", english, "ja", "zh-Hans", "vi"} }

// DeskLanguages returns the languages of all other texts: those for support and for programmers.
func DeskLanguages() []string { return []string{"ko", english} }

// desk lists the areas and the single entries of the catalogue that no seller sees.
var desk = []string{"desk", "docs", "problems/desk", "problems/ledger_refused"}

// languagesOf returns the languages that an area or an entry must have.
func languagesOf(name string) []string {
	for _, area := range desk {
		if name == area || strings.HasPrefix(name, area+"/") {
			return DeskLanguages()
		}
	}
	return Languages()
}

// Entry is a text, a group of entries or a list.
type Entry struct {
	Key   string            // as written, without "by …"
	By    string            // the words of the contract that name the entries in it; else empty
	Texts map[string]string // of a text, by language
	Parts []Entry           // of a group: each has a key
	Items []Entry           // of a list
}

// Read reads the whole catalogue, with one part a file. The error names every bad entry: one without a
// language, one without a text, a repeated key.
func Read() (Entry, error) { return read(files) }

func read(tree fs.FS) (Entry, error) {
	var all Entry
	var wrong []error
	err := fs.WalkDir(tree, ".", func(name string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		read, err := readFile(tree, name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
		area := all.area(strings.Split(strings.TrimSuffix(name, ".yaml"), "/"))
		area.Parts = append(area.Parts, read.Parts...)
		return nil
	})
	return all, errors.Join(append(wrong, err, all.twice(""))...)
}

// twice returns an error where two entries of a group have one key, as an area and a text beside it may.
func (e Entry) twice(at string) error {
	var wrong []error
	for n, part := range e.Parts {
		name := path.Join(at, part.Key)
		if slices.ContainsFunc(e.Parts[:n], func(before Entry) bool { return before.Key == part.Key }) {
			wrong = append(wrong, fmt.Errorf("%s is there twice", name))
		}
		wrong = append(wrong, part.twice(name))
	}
	return errors.Join(wrong...)
}

// area returns the entry of a path, and makes it where it is missing.
func (e *Entry) area(names []string) *Entry {
	if len(names) == 0 {
		return e
	}
	n := slices.IndexFunc(e.Parts, func(part Entry) bool { return part.Key == names[0] })
	if n < 0 {
		n, e.Parts = len(e.Parts), append(e.Parts, Entry{Key: names[0]})
	}
	return e.Parts[n].area(names[1:])
}

func readFile(tree fs.FS, name string) (Entry, error) {
	content, err := fs.ReadFile(tree, name)
	if err != nil {
		return Entry{}, err
	}
	var value any
	if err := yaml.UnmarshalWithOptions(content, &value, yaml.UseOrderedMap()); err != nil {
		return Entry{}, err
	}
	return entry(strings.TrimSuffix(name, ".yaml"), "", value)
}

// entry reads the value of a key of an area or a group.
func entry(at, key string, value any) (e Entry, err error) {
	e.Key, e.By, _ = strings.Cut(key, " by ")
	at = path.Join(at, e.Key)
	switch v := value.(type) {
	case yaml.MapSlice:
		if texts, ok := textsOf(v); ok {
			e.Texts = texts
			return e, complete(texts, languagesOf(at))
		}
		e.Parts, err = parts(at, v)
	case []any:
		e.Items, err = items(at, v)
	default:
		err = fmt.Errorf("%v is in no language: name one, or all", value)
	}
	return e, err
}

func parts(at string, group yaml.MapSlice) (list []Entry, err error) {
	for _, item := range group {
		key := fmt.Sprint(item.Key)
		part, wrong := entry(at, key, item.Value)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, wrong))
		}
		list = append(list, part)
	}
	return list, err
}

func items(at string, values []any) (list []Entry, err error) {
	for n, value := range values {
		item, wrong := entry(at, "", value)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("item %d: %w", n+1, wrong))
		}
		list = append(list, item)
	}
	return list, err
}

// textsOf reads a mapping as one text, if it is one. It names a language, and has no group under it.
func textsOf(m yaml.MapSlice) (texts map[string]string, ok bool) {
	texts = map[string]string{}
	for _, item := range m {
		key := fmt.Sprint(item.Key)
		text, _ := item.Value.(string)
		texts[key] = text
		_, group := item.Value.(yaml.MapSlice)
		ok = ok || !group && (key == everywhere || slices.Contains(Languages(), key))
	}
	return texts, ok
}

// complete returns an error where a text misses a language that it needs, or names another.
func complete(texts map[string]string, needed []string) error {
	var wrong []error
	if _, same := texts[everywhere]; same {
		needed = []string{everywhere}
	}
	for lang, text := range texts {
		if !slices.Contains(needed, lang) {
			wrong = append(wrong, fmt.Errorf("%s is no language of it", lang))
		} else if text == "" {
			wrong = append(wrong, fmt.Errorf("no text in %s", lang))
		}
	}
	for _, lang := range needed {
		if _, ok := texts[lang]; !ok {
			wrong = append(wrong, fmt.Errorf("%s is missing", lang))
		}
	}
	return errors.Join(wrong...)
}

// other is the catalogue's key for every word of the contract without an entry of its own; pages look that up
// by the empty one.
const other = "other"

// In returns the entry in one language, or in English where it lacks that. It is a string, a map of its
// parts, or a slice.
func (e Entry) In(lang string) any {
	switch {
	case e.Texts != nil:
		return cmp.Or(e.Texts[lang], e.Texts[everywhere], e.Texts[english])
	case e.Items != nil:
		list := make([]any, len(e.Items))
		for n, item := range e.Items {
			list[n] = item.In(lang)
		}
		return list
	}
	group := make(map[string]any, len(e.Parts))
	for _, part := range e.Parts {
		key := part.Key
		if e.By != "" && key == other {
			key = ""
		}
		group[key] = part.In(lang)
	}
	return group
}
