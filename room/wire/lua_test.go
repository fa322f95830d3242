package wire

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// script returns a Redis script with the module wire, as the library has it.
func script(body string) *redis.Script {
	return redis.NewScript(`
local NOW, wire, concat = 7, {}, table.concat
local function int(n) return string.format('%d', n) end
` + Lua() + body)
}

// fill gives every field of a record a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.String:
		v.SetString("가.@-9")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(-1.5)
	default:
		v.SetInt(1_795_220_000_000_001)
	}
}

// Lua writes what Go reads, and reads what it has written: with every field, and with none.
func TestLuaWritesEveryRecordAsGoReadsIt(t *testing.T) {
	rdb := redistest.Start(t).Client()
	embedded := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { require.NoError(t, embedded.Close()) })
	for _, of := range slices.Concat(members, written) {
		name := Name(of.Name())
		bare := slices.Contains(members, of)
		for _, filled := range []bool{true, false} {
			want := reflect.New(of)
			if filled {
				fill(want.Elem())
			}
			lua := luaOf(t, of, want)
			switch {
			case bare:
				lua = "wire.new_state(" + lua + ")"
			case slices.Contains(full, of):
				lua = "wire.new_" + name + "(" + lua + ")"
			}
			body := "local text = wire." + name + "(" + lua + ")\n"
			if bare {
				body += "text = '{' .. text .. '}'\n"
			}
			if slices.Contains(read, of) {
				body += "text = wire." + name + "(wire.read_" + name + "(text))\n"
			}
			for _, store := range []redis.UniversalClient{rdb, embedded} {
				text, err := script(body+"return text").Run(t.Context(), store, nil).Text()
				require.NoError(t, err, "%s: %s", name, body)
				got := reflect.New(of)
				require.NoError(t, json.Unmarshal([]byte(text), got.Interface()), "%s: %s", name, text)
				require.Equal(t, want.Interface(), got.Interface(), "%s: %s", name, text)
			}
		}
	}
}

// luaOf returns a Lua table with the fields of a record that are not zero, and those that Lua never leaves out.
func luaOf(t *testing.T, of reflect.Type, v reflect.Value) string {
	t.Helper()
	var b strings.Builder
	for _, f := range FieldsOf(of) {
		field := v.Elem().FieldByName(f.Go)
		text, err := json.Marshal(field.Interface())
		require.NoError(t, err)
		switch {
		case field.Kind() == reflect.Slice && field.IsNil():
			if f.OmitEmpty {
				continue
			}
			text = []byte("[]")
			v.Elem().FieldByName(f.Go).Set(reflect.MakeSlice(field.Type(), 0, 0))
		case f.OmitEmpty && field.IsZero():
			continue
		}
		b.WriteString(f.Name + " = cjson.decode('[" + string(text) + "]')[1], ")
	}
	return "{ " + b.String() + "}"
}

// A member that is absent is zero, and one whose field is a pointer is nil.
func TestAnAbsentMemberIsZero(t *testing.T) {
	rdb := redistest.Start(t).Client()
	text, err := script(`
local p, s = wire.read_stored_place('{}'), wire.read_state('{}')
return table.concat({ p.ticket, p.seller .. '.', tostring(p.asking), p.outcome .. '.', s.epoch, tostring(s.paused),
	tostring(s.rank_until_claimed), s.session .. '.', s.lost_at }, ' ')`).Run(t.Context(), rdb, nil).Text()
	require.NoError(t, err)
	require.Equal(t, "0 . false . 0 false nil . 0", text)
}

func TestARecordOfTheJournalHasTheFieldsOfItsKind(t *testing.T) {
	rdb := redistest.Start(t).Client()
	for _, k := range Kinds {
		var want Record
		fill(reflect.ValueOf(&want).Elem())
		keep := []string{"Type", "At"}
		for _, f := range k.Written() {
			keep = append(keep, f.Go)
		}
		zeroBut(reflect.ValueOf(&want).Elem(), keep)
		want.Type, want.At, want.MessageNote = k.Type, 7, MessageNote{MessageID: "m"}
		body := "return wire.record('" + k.Type + "', " + luaOf(t, reflect.TypeFor[Record](),
			reflect.ValueOf(&want)) + `, '"message_id":"m"')`
		text, err := script(body).Run(t.Context(), rdb, nil).Text()
		require.NoError(t, err)
		var got Record
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
}

func zeroBut(v reflect.Value, keep []string) {
	for i := range v.NumField() {
		if !slices.Contains(keep, v.Type().Field(i).Name) {
			v.Field(i).SetZero()
		}
	}
}

// Packages that know only the records need no client of Redis.
func TestWireNeedsTheStandardLibraryAlone(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			require.True(t, strings.HasSuffix(path, "_test.go") || !strings.Contains(spec.Path.Value, "."),
				"%s imports %s", path, spec.Path.Value)
		}
	}
}
