package locales

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/waitroom/waitroom/"
)

// scripts are the areas of texts that pages give to JavaScript, with the modules that use them. Those name a
// text as words.key or t.key.
func scripts() map[string][]string {
	return map[string][]string{
		"live":      {"static/js/*.js"},
		"desk/live": {"static/js/desk/*.js", "static/js/http.js"},
	}
}

func TestEveryTextIsUsed(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	shown := usedInGo(t)
	for area, modules := range scripts() {
		for _, key := range usedInScripts(t, modules) {
			shown[path.Join(area, key)] = true
		}
	}
	var unused []string
	entries(catalogue, "", func(name string, _ Entry) {
		if !shown[name] {
			unused = append(unused, name)
		}
	})
	require.Empty(t, unused, "no template, Go code or script says these")
}

func TestScriptsGetExactlyTheTextsThatTheyUse(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	handed := map[string][]string{}
	entries(catalogue, "", func(name string, e Entry) {
		handed[path.Dir(name)] = append(handed[path.Dir(name)], e.Key)
	})
	for area, modules := range scripts() {
		shown := usedInScripts(t, modules)
		require.Empty(t, without(shown, handed[area]), "%s misses what its scripts say", area)
		require.Empty(t, without(handed[area], shown), "no script says it: it belongs beside %s", area)
	}
}

// An entry named by a word of the contract is used where that word stands anywhere in the product.
func TestEveryTextBelongsToAKnownWord(t *testing.T) {
	catalogue, err := Read()
	require.NoError(t, err)
	known := wordsOfTheProduct(t)
	entries(catalogue, "", func(name string, table Entry) {
		for _, part := range table.Parts {
			if table.By != "" && part.Key != other {
				require.True(t, known[part.Key], "%s: %s", name, part.Key)
			}
		}
	})
}

// entries visits every entry with a name in an area.
func entries(e Entry, area string, visit func(name string, e Entry)) {
	for _, part := range e.Parts {
		name := path.Join(area, part.Key)
		if _, err := fs.Stat(files, name+".yaml"); err == nil {
			entries(part, name, visit)
		} else {
			visit(name, part)
		}
	}
}

// without returns the texts that another list does not have.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(others, one) })
}

var sayings = regexp.MustCompile(`\b(?:words|t)\.([a-z][a-z0-9_]*)`)

// usedInScripts returns the keys that modules name.
func usedInScripts(t *testing.T, modules []string) (shown []string) {
	t.Helper()
	for _, pattern := range modules {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, file := range found {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, name := range sayings.FindAllStringSubmatch(string(content), -1) {
				if name[1] != "js" { // words.js is a module
					shown = append(shown, name[1])
				}
			}
		}
	}
	return shown
}

// usedInGo returns the entries whose fields Go code names, by area and key. It reads a package after those
// that it imports.
func usedInGo(t *testing.T) map[string]bool {
	t.Helper()
	ours := packages{}
	shown, fields := map[string]bool{}, map[types.Object]string{}
	for _, name := range []string{"templates", "web/problem", "web/request", "web/reply", "web/support", "web"} {
		info := types.Info{Uses: map[*ast.Ident]types.Object{}}
		ours[module+name] = check(t, name, ours, &info)
		if name == "templates" {
			fieldsOf(ours[module+name].Scope().Lookup("Text").Type(), "", fields)
			require.NotEmpty(t, fields)
		}
		for _, used := range info.Uses {
			shown[fields[used]] = true
		}
	}
	return shown
}

// packages are this module's packages that have been read. All others count as empty: their types are then
// unknown, which is no error here.
type packages map[string]*types.Package

// Import implements types.Importer.
func (p packages) Import(name string) (*types.Package, error) {
	if p[name] == nil {
		p[name] = types.NewPackage(name, path.Base(name))
		p[name].MarkComplete()
	}
	return p[name], nil
}

// check reads the types of a package's own files.
func check(t *testing.T, name string, load types.Importer, info *types.Info) *types.Package {
	t.Helper()
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	require.NoError(t, err)
	var read []*ast.File
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			read = append(read, parsed)
		}
	}
	config := types.Config{Importer: load, Error: func(error) {}}
	checked, _ := config.Check(module+name, set, read, info)
	return checked
}

// fieldsOf maps each field of the catalogue's types to its key.
func fieldsOf(of types.Type, area string, names map[types.Object]string) {
	group, ok := of.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range group.NumFields() {
		name := path.Join(area, reflect.StructTag(group.Tag(i)).Get("json"))
		names[group.Field(i)] = name
		fieldsOf(group.Field(i).Type(), name, names)
	}
}

var literal = regexp.MustCompile("[\"'`.]([A-Za-z][A-Za-z0-9_.-]*)\\b|\\b([a-z][a-z0-9_]*):")

// wordsOfTheProduct returns the words that are a string or name a property in the product's code.
func wordsOfTheProduct(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, dir := range []string{"room", "sms", "ledger", "hub", "web", "server", "outbox", "static/js",
		"templates"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, file fs.DirEntry, err error) error {
			if err != nil || file.IsDir() || !shipped(name) {
				return err
			}
			content, err := os.ReadFile(name)
			for _, word := range literal.FindAllStringSubmatch(string(content), -1) {
				known[word[1]+word[2]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	return known
}

func shipped(name string) bool {
	generated := strings.HasSuffix(name, "text_gen.go") || strings.HasSuffix(name, "_templ.go")
	return slices.Contains([]string{".go", ".js", ".lua", ".templ"}, filepath.Ext(name)) &&
		!strings.HasSuffix(name, "_test.go") && !generated
}
