// Gen writes the tables of records in docs/redis-keys.md from the structs of room/wire and their comments.
// Run it by make generate.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/room/wire"
)

// Paths, seen from the module's root.
const (
	declared = "room/wire"
	page     = "docs/redis-keys.md"
)

func main() {
	text, err := os.ReadFile(page)
	if err != nil {
		log.Fatal(err)
	}
	if text, err = withTables(text, declared); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(page, text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// section is one table: a record, and where a person meets it.
type section struct {
	record, where string
}

// sections are the tables, in order.
var sections = []section{
	{"Room", "what every process sees of a room; in `{room}:state`, in each event and in each reply"},
	{"BySupport", "what support has set for the whole room, in its member `support`"},
	{"Lease", "the live lease; in `{room}:state`, in each event and in each reply"},
	{"Holder", "who holds it; in `{room}:state` and in each event"},
	{"State", "the rest of `{room}:state`"},
	{"StoredPlace", "a place, in `{room}:places`"},
	{"EndedLease", "a lease that ended, in `{room}:leases`"},
	{"Ask", "an ask, in the field `asks` of `{room}:state` and in ended leases"},
	{"StoredMessage", "a message, in `{room}:texts`"},
	{"Parts", "a long message, in `{room}:parts:DIGEST`"},
	{"Event", "an event, on `{room}:events`, beside the room and the lease with its holder"},
	{"Joined", "in an event: a place that joined or moved"},
	{"Missed", "in an event: a place whose turn passed unclaimed, beside the members of one that joined"},
	{"Finished", "in an event: a place that ended"},
	{"Note", "in an event: what does not change the version"},
}

var between = regexp.MustCompile(`(?s)(<!-- made from room/wire by make generate -->\n).*?(<!-- end -->\n)`)

// withTables returns the page with the tables of the records that a directory declares.
func withTables(page []byte, dir string) ([]byte, error) {
	if !between.Match(page) {
		return nil, fmt.Errorf("the page has no place for the tables: %s", between)
	}
	structs, err := structsIn(dir)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "\n`%s`: %s.\n\n| member | meaning |\n| --- | --- |\n", wire.Name(s.record), s.where)
		rows, err := rowsOf(structs, s.record)
		if err != nil {
			return nil, err
		}
		b.WriteString(strings.Join(rows, ""))
	}
	b.WriteString("\n`records` of a journal entry: each has `type`, `at`, and the members of its type.\n\n" +
		"| type | meaning | members |\n| --- | --- | --- |\n")
	for _, k := range wire.Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Type, k.Means, "`"+strings.Join(membersOf(k), "` `")+"`")
	}
	return between.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"\n${2}")), nil
}

// structsIn returns the structs that a directory declares, by name.
func structsIn(dir string) (map[string]*ast.StructType, error) {
	paths, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		return nil, err
	}
	structs := make(map[string]*ast.StructType)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if t, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = t
				}
			}
			return true
		})
	}
	return structs, nil
}

// others are structs with tables of their own: the tables of structs that embed them lack their members.
var others = []string{"Room", "Lease", "Holder", "Joined"}

func rowsOf(structs map[string]*ast.StructType, name string) (rows []string, err error) {
	for _, f := range structs[name].Fields.List {
		if len(f.Names) == 0 {
			embedded := f.Type.(*ast.Ident).Name
			if slices.Contains(others, embedded) {
				continue
			}
			more, err := rowsOf(structs, embedded)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
			continue
		}
		comment := strings.TrimSpace(f.Comment.Text())
		if comment == "" {
			comment = strings.TrimSpace(f.Doc.Text())
		}
		member, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		if comment == "" {
			return nil, fmt.Errorf("%s of room/wire has no comment for %s", name, member)
		}
		rows = append(rows, "| `"+member+"` | "+strings.ReplaceAll(comment, "\n", " ")+" |\n")
	}
	return rows, nil
}

func membersOf(k wire.Kind) (list []string) {
	for _, f := range k.Written() {
		list = append(list, f.Name)
	}
	return list
}
