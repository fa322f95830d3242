package room_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// withoutFunctions returns a client of admin's server whose user may call scripts but no functions.
func withoutFunctions(t *testing.T, admin *redis.Client) *redis.Client {
	t.Helper()
	require.NoError(t, admin.Do(t.Context(), "ACL", "SETUSER", "scripts", "on", "nopass", "~*", "&*", "+@all",
		"-fcall", "-fcall_ro", "-function").Err())
	options := *admin.Options()
	options.Username, options.Password = "scripts", "any"
	rdb := redis.NewClient(&options)
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

// commands is a hook that records the commands that a client sends, in lower case.
type commands struct {
	redis.Hook
	mu   sync.Mutex
	sent []string
}

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.mu.Lock()
		c.sent = append(c.sent, strings.ToLower(cmd.Name()))
		c.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestWhereTheUserMayCallNoFunctionsTheLibraryIsAScript(t *testing.T) {
	rdb, sent := withoutFunctions(t, redistest.Start(t).Client()), &commands{}
	rdb.AddHook(sent)
	e := room.New(rdb, room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	a.join()
	b.join()
	tried := strings.Count(strings.Join(sent.sent, " "), "fcall")
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status)
	require.Equal(t, 1, tried, "it is tried once")
	require.Equal(t, 1, strings.Count(strings.Join(sent.sent, " "), "fcall"))
	require.Contains(t, e.WithoutFunctions(), "may not call functions")
}

func TestALibraryThatIsLostIsLoadedWithinTheCall(t *testing.T) {
	server := redistest.Start(t)
	admin := server.Client()
	for way, e := range map[string]*room.Engine{
		"functions": room.New(server.Client(), room.Config{}),
		"script":    room.New(server.Client(), room.Config{Scripts: true}),
	} {
		t.Run(way, func(t *testing.T) {
			lose := func() {
				require.NoError(t, admin.FunctionFlush(t.Context()).Err())
				require.NoError(t, admin.ScriptFlush(t.Context()).Err())
			}
			a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
			lose()
			a.join()
			lose()
			require.Equal(t, room.Waiting, b.join().Status)
			lose()
			a.leave(room.Completed)
			lose()
			require.Equal(t, room.Locked, b.stand().Status)
			b.leave(room.Completed)
		})
	}
}

func TestEveryMasterOfAClusterLoadsALibraryThatItLost(t *testing.T) {
	cluster := redistest.StartCluster(t).Client()
	e := room.New(cluster, room.Config{Journal: 1000})
	for i := range 2 {
		for _, id := range []room.ID{"room:1", "room:2", "room:3", "room:4", "room:5", "room:6"} {
			handOff(t, e, id+room.ID(rune('a'+i)))
		}
		require.NoError(t, cluster.ForEachMaster(t.Context(),
			func(ctx context.Context, master *redis.Client) error {
				libraries, err := master.FunctionList(ctx, redis.FunctionListQuery{}).Result()
				require.NoError(t, err)
				require.Len(t, libraries, 1)
				return master.FunctionFlush(ctx).Err()
			}))
	}
}

// Replicas with and without permission to call functions serve the same rooms.
func TestFunctionsAndScriptsServeOneRoomTogether(t *testing.T) {
	server := redistest.Start(t)
	ways := []*room.Engine{room.New(server.Client(), room.Config{}),
		room.New(withoutFunctions(t, server.Client()), room.Config{})}
	var fence int64
	waiting := newSeller(t, ways[0], "0")
	waiting.join()
	for i := range 20 {
		next := newSeller(t, ways[(i+1)%2], strings.Repeat("n", i+1))
		next.join()
		holder := waiting
		holder.engine = ways[i%2]
		st := holder.stand()
		require.Equal(t, room.Locked, st.Status)
		require.Greater(t, st.Lease.Fence, fence)
		fence = st.Lease.Fence
		holder.leave(room.Completed)
		waiting = next
	}
	require.Empty(t, ways[0].WithoutFunctions())
	require.NotEmpty(t, ways[1].WithoutFunctions())
}

func TestRedisThatTakesNoWritesAnswersAlsoWhereItLostTheLibrary(t *testing.T) {
	rdb := redistest.Start(t).Client()
	e := room.New(rdb, room.Config{})
	a := newSeller(t, e, "a")
	a.join()
	require.NoError(t, rdb.FunctionFlush(t.Context()).Err())
	takesWrites(t, rdb, false)
	require.Equal(t, room.Locked, a.stand().Status)
	_, err := e.Join(t.Context(), integration, room.JoinRequest{Session: room.NewSession(), Seller: "b"})
	require.True(t, room.NoWrites(err), "%v", err)
	takesWrites(t, rdb, true)
	a.leave(room.Completed)
}

// A library is named by its content, so that several versions on one Redis serve side by side.
func TestALibraryThatNoProcessCallsAnyMoreIsDeleted(t *testing.T) {
	rdb := redistest.Start(t).Client()
	load := func(name, idle string) {
		code := "#!lua name=" + name + "\nredis.register_function{function_name='" + name +
			"_idle', callback=function() return " + idle + " end, flags={'no-writes'}}"
		require.NoError(t, rdb.FunctionLoad(t.Context(), code).Err())
	}
	load("waitroom_used", "60 * 1000")
	load("waitroom_left", "2 * 60 * 60 * 1000")
	load("another", "2 * 60 * 60 * 1000")
	newSeller(t, room.New(rdb, room.Config{}), "a").join()
	libraries, err := rdb.FunctionList(t.Context(), redis.FunctionListQuery{}).Result()
	require.NoError(t, err)
	var left []string
	for _, library := range libraries {
		left = append(left, library.Name)
	}
	require.ElementsMatch(t, []string{room.LibraryName(), "waitroom_used", "another"}, left)
}

func TestALibraryReturnsHowLongAgoItWasCalled(t *testing.T) {
	rdb := redistest.Start(t).Client()
	idle := func() int64 {
		ms, err := rdb.FCallRO(t.Context(), room.LibraryName()+"_idle", nil).Int64()
		require.NoError(t, err)
		return ms
	}
	require.Empty(t, room.TryFunctions(t.Context(), rdb))
	require.Zero(t, idle(), "it was not called")
	newSeller(t, room.New(rdb, room.Config{}), "a").join()
	testproc.Until(t, time.Minute, func() error { // asking for the idle time is no call of the library
		if idle() < 20 {
			return errors.New("not yet")
		}
		return nil
	})
}

func TestANodeThatARoomHasMovedToLoadsTheLibrary(t *testing.T) {
	cluster := redistest.StartCluster(t)
	e := room.New(cluster.Client(), room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	a.join()
	b.join()
	for range 3 {
		for _, node := range cluster.Nodes() {
			require.NoError(t, node.Client().FunctionFlush(t.Context()).Err())
		}
		_, err := cluster.Move("{integration}:lock")
		require.NoError(t, err)
		require.Equal(t, room.Waiting, b.stand().Status)
	}
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestOnlyErrorsAboutFunctionsMeanThatThereAreNone(t *testing.T) {
	for text, none := range map[string]bool{
		"ERR unknown command `FCALL`, with args beginning with: 'f'":                             true,
		"ERR unknown command 'fcall_ro', with args beginning with: 'f'":                          true,
		"NOPERM this user has no permissions to run the 'fcall' command":                         true,
		"NOPERM User app has no permissions to run the 'function|load' command":                  true,
		"NOPERM ACL failure in script: User app has no permissions to run the 'publish' command": false,
		"NOPERM No permissions to access a key":                                                  false,
		"ERR Function not found":                                                                 false,
		"ERR unknown command 'zmscore' script: waitroom, on @user_function:1.":                   false,
	} {
		require.Equal(t, none, room.WhyNoFunctions(errors.New(text)) != "", text)
	}
}
