package redistest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// test is the part of a test's interface that State needs; a property test has it too.
type test interface {
	require.TestingT
	Helper()
}

// State reads a member of a room's state, as in "lease.fence"; "" if it is absent.
func State(t test, rdb redis.UniversalClient, room, member string) string {
	t.Helper()
	field, name, _ := strings.Cut(member, ".")
	value, there := stateField(t, rdb, room, field)[name]
	if !there {
		return ""
	}
	return fmt.Sprint(value)
}

// SetState sets members of a room's state: "lease.fence", 7, "lease.seller", "a". A
// value of nil makes one absent.
func SetState(t test, rdb redis.UniversalClient, room string, members ...any) {
	t.Helper()
	for i := 0; i < len(members); i += 2 {
		field, name, _ := strings.Cut(members[i].(string), ".")
		values := stateField(t, rdb, room, field)
		values[name] = members[i+1]
		if members[i+1] == nil {
			delete(values, name)
		}
		text, err := json.Marshal(values)
		require.NoError(t, err)
		require.NoError(t, rdb.HSet(context.Background(), "{"+room+"}:state", field, text).Err())
	}
}

func stateField(t test, rdb redis.UniversalClient, room, field string) map[string]any {
	t.Helper()
	text, err := rdb.HGet(context.Background(), "{"+room+"}:state", field).Bytes()
	values := map[string]any{}
	if err == redis.Nil {
		return values
	}
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&values))
	return values
}
