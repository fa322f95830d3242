package ledger

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step matches a line of the package doc's walk: number, function, file.
var step = regexp.MustCompile(`(?m)^//\t *(\d+)  (\S+) +(\S+\.go) `)

func TestTheWayOfAnEntryIsAsThePackageDocHasIt(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	steps := step.FindAllStringSubmatch(string(doc), -1)
	require.NotEmpty(t, steps)
	require.LessOrEqual(t, len(steps), 15)
	left, last := make(map[string]bool), ""
	for _, s := range steps {
		name, file := s[2], s[3]
		require.Contains(t, functionsOf(t, file), name, file)
		require.False(t, left[file], "step %s comes back to %s", s[1], file)
		if last != file {
			left[last], last = true, file
		}
	}
}

// functionsOf returns a file's functions, and its methods both with and without their types.
func functionsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		names = append(names, f.Name.Name)
		if f.Recv == nil {
			continue
		}
		receiver := f.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if of, ok := receiver.(*ast.Ident); ok {
			names = append(names, strings.Join([]string{of.Name, f.Name.Name}, "."))
		}
	}
	return names
}
