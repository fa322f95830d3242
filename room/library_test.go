package room

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// given are the global names that Redis declares and the library uses.
var given = []string{"KEYS", "ARGV", "redis", "cjson", "error", "math", "string", "table", "ipairs", "next", "pairs",
	"pcall", "select", "setmetatable", "tonumber", "tostring", "type",
	"unpack"}

func compile(t *testing.T, text string) *lua.FunctionProto {
	t.Helper()
	chunk, err := parse.Parse(strings.NewReader(text), "library")
	require.NoError(t, err)
	proto, err := lua.Compile(chunk, "library")
	require.NoError(t, err)
	return proto
}

// walk calls `look` with a function and with all functions inside it, each with the number of functions
// around it.
func walk(f *lua.FunctionProto, depth int, look func(f *lua.FunctionProto, depth int)) {
	look(f, depth)
	for _, inner := range f.FunctionPrototypes {
		walk(inner, depth+1, look)
	}
}

// undeclared returns the names that a text uses and does not declare.
func undeclared(t *testing.T, text string) []string {
	t.Helper()
	names := make(map[string]bool)
	walk(compile(t, text), 0, func(f *lua.FunctionProto, _ int) {
		for _, instruction := range f.Code {
			if op := int(instruction >> 26); op == lua.OP_GETGLOBAL || op == lua.OP_SETGLOBAL {
				names[f.Constants[instruction&0x3ffff].String()] = true
			}
		}
	})
	for _, name := range given {
		delete(names, name)
	}
	return slices.Sorted(maps.Keys(names))
}

func TestTheLibraryDeclaresAllThatItNames(t *testing.T) {
	require.Empty(t, undeclared(t, libraryText()))
	require.Equal(t, []string{"below", "beside"},
		undeclared(t, "local above = 1\nlocal function f() return above + below end\nbeside = f()"))
}

// Redis runs the library's text and the function around its modules once, when it loads the library. Only a
// function inside a further function would be made for each call.
func TestNoFunctionIsMadePerCall(t *testing.T) {
	walk(compile(t, libraryText()), 0, func(f *lua.FunctionProto, depth int) {
		if depth >= 2 {
			require.Empty(t, f.FunctionPrototypes,
				"the function that begins in line %d of the library makes another", f.LineDefined)
		}
	})
}

func TestEveryFunctionOfAModuleThatIsCalledIsThere(t *testing.T) {
	made := make(map[string]bool)
	makes := regexp.MustCompile(`(?m)^(?:function )?(\w+\.\w+)(?:\(| =)`)
	for _, found := range makes.FindAllStringSubmatch(libraryText(), -1) {
		made[found[1]] = true
	}
	called := regexp.MustCompile(`\b(` + strings.Join(append(modules(), "verb"), "|") + `)\.(\w+)\(`)
	calls := called.FindAllStringSubmatch(withoutComments(libraryText()), -1)
	require.NotEmpty(t, calls)
	for _, found := range calls {
		require.True(t, made[found[1]+"."+found[2]], "no module has %s.%s", found[1], found[2])
	}
}

// verbSources returns the source of each verb in Lua, by name.
func verbSources(t *testing.T) map[string]string {
	files, err := fs.Glob(luaFiles, "lua/verb/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	sources := make(map[string]string)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".lua")
		sources[name] = luaSource("verb/" + name)
	}
	return sources
}

func withoutComments(source string) string {
	return regexp.MustCompile(`--.*`).ReplaceAllString(source, "")
}

// used returns the fields of a table that a text names.
func used(table, text string) []string {
	var names []string
	field := regexp.MustCompile(`\b` + table + `\.(\w+)`)
	for _, found := range field.FindAllStringSubmatch(withoutComments(text), -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestAVerbUsesTheArgumentsThatItGetsAndNoOthers(t *testing.T) {
	sources := verbSources(t)
	require.Equal(t, slices.Sorted(maps.Keys(sources)), slices.Sorted(maps.Keys(argumentsOf)))
	for name, fields := range argumentsOf {
		got, source := slices.Sorted(slices.Values(fields.names)), sources[name]
		require.Equal(t, append([]string{}, got...), append([]string{}, used("args", source)...), "%s.lua",
			name)
	}
	require.Equal(t, slices.Sorted(slices.Values(policyFields.names)), used("settings", libraryText()))
	require.Equal(t, slices.Sorted(slices.Values(callerFields.names)), used("caller", libraryText()))
	require.Equal(t, slices.Sorted(slices.Values(rareFields.names)), used("rare", libraryText()))
}

func TestEveryCodeThatAVerbAnswersIsKnown(t *testing.T) {
	returned := regexp.MustCompile(`\breturn (?:nil, |[\w.]+ and )?'(\w{2,})'(?: or '(\w+)')?`)
	codes := make(map[string]bool)
	for name, source := range verbSources(t) {
		for _, found := range returned.FindAllStringSubmatch(source, -1) {
			for _, code := range found[1:] {
				codes[code] = true
				require.True(t, code == "" || !errors.Is(codeError(&answer{Code: code}), ErrStore),
					"%s.lua answers %q, which is not among refusals in errors.go", name, code)
			}
		}
	}
	for code := range refusals {
		require.True(t, codes[code], "no verb answers %q", code)
	}
}

// Without this a misspelt name or value would prepare a verb as if its file said nothing.
func TestAVerbSaysInAKnownWordHowItIsPrepared(t *testing.T) {
	said := regexp.MustCompile(`\bprepare\.(\w+) = '(\w+)'`)
	for name, source := range verbSources(t) {
		for _, found := range said.FindAllStringSubmatch(source, -1) {
			require.Equal(t, name, found[1])
			require.Contains(t, []string{"begin", "itself"}, found[2], "%s.lua; see call.lua", name)
		}
	}
}

// Functions and their variables live on between calls. So a call for one room must not change what the next
// call, for another room, finds in them.
func TestNoVerbChangesACallsSettings(t *testing.T) {
	require.NotRegexp(t, `\b(?:settings|caller|rare|args)\.\w+ = `, withoutComments(libraryText()),
		"rules are kept for several calls")
}
