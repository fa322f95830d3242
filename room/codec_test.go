package room

import (
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// verbs are all of them, by their files.
func verbs() map[string]verbScript {
	files := make(map[string]verbScript)
	for _, v := range scripts {
		files[v.file] = v
	}
	return files
}

func TestAScriptUsesAllThatItIsHandedAndNoPositions(t *testing.T) {
	parts := slices.Concat(bare, shared, several, slices.Collect(maps.Values(alone)), []string{"now", "still"})
	open := []string{"prelude", "state", "lineage", "now", "still", "join_alone", "leave_alone"} // parts all of whose names are seen behind them, or that have none
	files, err := luaFiles.ReadDir("lua")
	require.NoError(t, err)
	ofVerbs, further := verbs(), slices.Concat(slices.Collect(maps.Values(goesOn))...)
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".lua")
		if strings.HasPrefix(name, "index_") || name == "erase_reply" { // which share nothing with verbs
			continue
		}
		require.NotContains(t, withoutComments(luaSource(name)), "ARGV", f.Name())
		if slices.Contains(further, name) {
			continue
		}
		v, isVerb := ofVerbs[name]
		if !isVerb {
			require.True(t, slices.Contains(parts, name), "%s is no verb's, nor a part that script.go lists", f.Name())
			require.True(t, slices.Contains(open, name) || exports.MatchString(luaSource(name)) || functions.MatchString(luaSource(name)), "%s does not end by returning the names that others may use", f.Name())
			continue
		}
		for _, argument := range v.args.names {
			require.True(t, mentioned(withoutComments(v.source()), argument), "%s is not used in %s", argument, f.Name())
		}
	}
	var everywhere string
	for _, name := range parts {
		everywhere += luaSource(name)
	}
	for _, argument := range append(callerArgs.names[1:], policyArgs.names...) { // the first is VERB: see script.go
		require.Regexp(t, `\b`+argument+`\b`, everywhere, "no script uses it")
	}
}

func withoutComments(source string) string {
	return regexp.MustCompile(`--.*`).ReplaceAllString(source, "")
}

func mentioned(source, name string) bool {
	return regexp.MustCompile(`\b` + name + `\b`).MatchString(source)
}

func TestEveryCodeThatAScriptAnswersIsKnown(t *testing.T) {
	answers := regexp.MustCompile(`\b(?:refuse|reply|answer)\('(\w+)'`)
	for name, v := range verbs() {
		for _, found := range answers.FindAllStringSubmatch(v.source(), -1) {
			err := codeError(found[1])
			require.False(t, errors.Is(err, ErrStore), "%s.lua answers %q, which is not among refusals in errors.go", name, found[1])
		}
	}
}

func TestTheKeysOfItsOwnThatAVerbNamesAreThoseThatItUses(t *testing.T) {
	named, used := regexp.MustCompile(`(?m)^--(?: KEYS)? +(1[5-9]) `), regexp.MustCompile(`KEYS\[(1[5-9])\]`) // those before are every verb's: see prelude.lua
	for file, v := range verbs() {
		require.Equal(t, numbers(named, v.source()), numbers(used, v.source()), "%s.lua", file)
	}
}

func numbers(of *regexp.Regexp, source string) (all []string) {
	for _, found := range of.FindAllStringSubmatch(source, -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Redis's client silently sends a call again whose reply was lost.
func TestAVerbWhoseReplyIsRememberedLooksForItFirst(t *testing.T) {
	for name, v := range verbs() {
		source := v.source()
		if name == "erase" { // done again it finds nothing to do
			continue
		}
		remembers := strings.Contains(source, "return answer(")
		require.Equal(t, remembers, strings.Contains(source, "local told = repeated()\nif told then return told end\n"),
			"%s.lua: what ends in answer() begins with the lines of repeated()", name)
	}
}

type handedOver struct {
	Word     string
	MayWait  bool
	Not      bool
	RestTime time.Duration
	Count    int
	ID       int64
	JSONText []byte
	Sessions []string
}

func TestWhatAScriptIsHandedIsCalledTheSameInGoAndInLua(t *testing.T) {
	args := argumentsOf(reflect.TypeFor[handedOver]())
	require.Equal(t, []string{"WORD", "MAY_WAIT", "NOT", "REST_TIME", "COUNT", "ID", "JSONTEXT", "SESSIONS"}, args.names)
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	script := redis.NewScript(args.lua(2) + `
		return table.concat({ WORD, tostring(MAY_WAIT), tostring(NOT), REST_TIME + 1, COUNT + 1, string.format('%d', ID + 1), JSONTEXT, table.concat(SESSIONS, ',') }, ' ')`)
	for want, a := range map[string]handedOver{
		"- true false 1501 3 1800000000000001 {} a,b": {"-", true, false, 1500 * time.Millisecond, 2, 1_800_000_000_000_000, []byte("{}"), []string{"a", "b"}},
		" false true 1 1 1  ":                         {Not: true},
	} {
		argv := args.appendTo([]any{"somebody else's"}, reflect.ValueOf(a))
		got, err := script.Run(t.Context(), rdb, nil, argv...).Text()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
