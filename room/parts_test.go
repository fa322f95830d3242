package room

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// given are the names that Redis gives a script, of those that ours use.
var given = []string{"KEYS", "ARGV", "redis", "cjson", "math", "string", "table", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "unpack"}

// strangers are the names in a text that nothing in it declares.
func strangers(t *testing.T, text string) []string {
	t.Helper()
	chunk, err := parse.Parse(strings.NewReader(text), "script")
	require.NoError(t, err)
	main, err := lua.Compile(chunk, "script")
	require.NoError(t, err)
	names := make(map[string]bool)
	var look func(f *lua.FunctionProto)
	look = func(f *lua.FunctionProto) {
		for _, instruction := range f.Code {
			if op := int(instruction >> 26); op == lua.OP_GETGLOBAL || op == lua.OP_SETGLOBAL {
				names[f.Constants[instruction&0x3ffff].String()] = true
			}
		}
		for _, inner := range f.FunctionPrototypes {
			look(inner)
		}
	}
	look(main)
	for _, name := range given {
		delete(names, name)
	}
	return slices.Sorted(maps.Keys(names))
}

// A part that a verb does not name is nil for it, which shows when the line runs: on the day of a failover.
func TestAVerbUsesNoPartThatItDoesNotName(t *testing.T) {
	begin := preamble()
	for _, name := range bare {
		begin += part(name)
	}
	begin += together(shared)
	for _, v := range scripts {
		text := begin
		for _, name := range several {
			if slices.Contains(v.parts, name) {
				text += part(name)
			}
		}
		require.Empty(t, strangers(t, text+v.text()), v.verb)
	}
	require.Empty(t, strangers(t, scriptText()))
	require.Equal(t, []string{"below", "beside"}, strangers(t, "local above = 1\nlocal function f() return above + below end\nbeside = f()"))
}
