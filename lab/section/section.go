// Package section replaces the parts of a page that programs write, and leaves the rest of it to people.
package section

import (
	"os"
	"strings"
)

// Put replaces a program's part of a Markdown file, or adds it at the end. title is the first line of a file
// that does not exist yet.
func Put(path, title, name, by, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(old) == 0 {
		old = []byte("# " + title + "\n")
	}
	return os.WriteFile(path, []byte(replaced(string(old), name, by, text)), 0o644)
}

func replaced(old, name, by, text string) string {
	begin, end := "<!-- "+name+": begin", "<!-- "+name+": end -->\n"
	part := begin + ", written by " + by + " -->\n" + strings.TrimRight(text, "\n") + "\n" + end
	before, rest, found := strings.Cut(old, begin)
	if !found {
		return strings.TrimRight(old, "\n") + "\n\n" + part
	}
	_, after, _ := strings.Cut(rest, end)
	return before + part + after
}
