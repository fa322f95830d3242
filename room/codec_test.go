package room

import (
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

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

func TestALuaTableHasTheFieldsOfTheStruct(t *testing.T) {
	fields := fieldsOf(reflect.TypeFor[handedOver]())
	require.Equal(t, []string{"word", "may_wait", "not", "rest_time", "count", "id", "jsontext", "sessions"},
		fields.names)
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	script := redis.NewScript(`
		local v = ARGV
		local a = ` + fields.lua(2) + `
		return table.concat({ a.word, tostring(a.may_wait), tostring(a['not']), a.rest_time + 1, a.count + 1,
			string.format('%d', a.id + 1), a.jsontext.x, #a.sessions, table.concat(a.sessions, ',') }, ' ')`)
	for want, a := range map[string]handedOver{
		`- true false 1501 3 1800000000000001 y 2 a,b`: {"-", true, false, 1500 * time.Millisecond, 2,
			1_800_000_000_000_000, []byte(`{"x":"y"}`), []string{"a", "b"}},
		"\"\x00\n<é false true 1 1 1 z 0 ": {Word: "\"\x00\n<é", Not: true,
			JSONText: []byte(`{"x":"z"}`)},
	} {
		got, err := script.Run(t.Context(), rdb, nil, fields.texts([]any{"first"}, reflect.ValueOf(a))...).Text()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
