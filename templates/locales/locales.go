// Package locales reads the catalogue of words: every text that a person reads, on pages, in problems and in what JavaScript says.
//
// A file is an area, and one in a directory is a part of the area of that name. An entry is a text with its languages one under another,
// a group of entries, or a list:
//
//	join:
//	  ko: "준비 완료"
//	  en: "I’m ready"
//	sep:
//	  all: " · "          # the same in every language
//	outcomes by outcome:  # named by words of the contract; other is every other word
//	  expired: …
//	  other: …
//
// {name} stands for a value, {name:one:other} for a number with its noun: "{n:person:people}".
package locales

import (
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

// Languages are those that everything is said in.
func Languages() []string { return []string{"ko", "en"} }

// Entry is a text, or what has entries in it.
type Entry struct {
	Key   string            // as it is written, without "by …"
	By    string            // what the entries in it are named by, where those names are words of the contract; else empty
	Texts map[string]string // of a text, by language
	Parts []Entry           // of a group: each has a key
	Items []Entry           // of a list
}

// Read reads the whole catalogue, with one part a file. The error names every entry that is not in order: one without a language, one
// without a text, a key that stands twice.
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

// twice is an error where two entries of a group have one key, as an area and a text beside it may.
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

// area is the entry of a path, which is made where it is missing.
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
	return entry("", value)
}

// entry reads what stands under a key.
func entry(key string, value any) (e Entry, err error) {
	e.Key, e.By, _ = strings.Cut(key, " by ")
	switch v := value.(type) {
	case yaml.MapSlice:
		if texts, ok := textsOf(v); ok {
			e.Texts = texts
			return e, complete(texts)
		}
		e.Parts, err = parts(v)
	case []any:
		e.Items, err = items(v)
	default:
		err = fmt.Errorf("%v is in no language: say which, or all", value)
	}
	return e, err
}

func parts(group yaml.MapSlice) (list []Entry, err error) {
	for _, item := range group {
		key := fmt.Sprint(item.Key)
		part, wrong := entry(key, item.Value)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, wrong))
		}
		list = append(list, part)
	}
	return list, err
}

func items(values []any) (list []Entry, err error) {
	for n, value := range values {
		item, wrong := entry("", value)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("item %d: %w", n+1, wrong))
		}
		list = append(list, item)
	}
	return list, err
}

// textsOf reads a mapping as one text, if that is what it is: one in which a language is named.
func textsOf(m yaml.MapSlice) (texts map[string]string, ok bool) {
	texts = map[string]string{}
	for _, item := range m {
		key := fmt.Sprint(item.Key)
		text, _ := item.Value.(string)
		texts[key] = text
		ok = ok || key == everywhere || slices.Contains(Languages(), key)
	}
	return texts, ok
}

// complete is an error where a text misses a language, or names one that there is none of.
func complete(texts map[string]string) error {
	var wrong []error
	needed := Languages()
	if _, same := texts[everywhere]; same {
		needed = []string{everywhere}
	}
	for lang, text := range texts {
		if !slices.Contains(needed, lang) {
			wrong = append(wrong, fmt.Errorf("%s is no language of the catalogue", lang))
		} else if text == "" {
			wrong = append(wrong, fmt.Errorf("nothing is said in %s", lang))
		}
	}
	for _, lang := range needed {
		if _, ok := texts[lang]; !ok {
			wrong = append(wrong, fmt.Errorf("%s is missing", lang))
		}
	}
	return errors.Join(wrong...)
}

// other is how the catalogue names every word of the contract that has no entry of its own; pages look that up by the empty one.
const other = "other"

// In is the entry in one language: a string, a map of what is in it, or a slice.
func (e Entry) In(lang string) any {
	switch {
	case e.Texts != nil:
		if text, ok := e.Texts[lang]; ok {
			return text
		}
		return e.Texts[everywhere]
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
