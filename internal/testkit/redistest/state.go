package redistest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// test is the part of a test's interface that State needs; a property test has it too.
type test interface {
	require.TestingT
	Helper()
}

// State reads a member of a room's state; "" if it is absent.
func State(t test, rdb redis.UniversalClient, room, member string) string {
	t.Helper()
	value, there := state(t, rdb, room)[member]
	if !there {
		return ""
	}
	return fmt.Sprint(value)
}

// SetState sets members of a room's state: "fence", 7, "seller", "a". A value of nil makes one absent.
func SetState(t test, rdb redis.UniversalClient, room string, members ...any) {
	t.Helper()
	values := state(t, rdb, room)
	for i := 0; i < len(members); i += 2 {
		values[members[i].(string)] = members[i+1]
		if members[i+1] == nil {
			delete(values, members[i].(string))
		}
	}
	text, err := json.Marshal(values)
	require.NoError(t, err)
	require.NoError(t, rdb.HSet(context.Background(), "{"+room+"}:state", "room", text).Err())
}

func state(t test, rdb redis.UniversalClient, room string) map[string]any {
	t.Helper()
	text, err := rdb.HGet(context.Background(), "{"+room+"}:state", "room").Bytes()
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
