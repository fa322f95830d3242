package room_test

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

var commandCalls = regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`)

// asked returns the number of Redis commands of the scripts that ran during `during`.
func asked(t *testing.T, rdb *redis.Client, during func()) (n int) {
	require.NoError(t, rdb.ConfigResetStat(t.Context()).Err())
	during()
	for _, found := range commandCalls.FindAllStringSubmatch(rdb.Info(t.Context(), "commandstats").Val(),
		-1) {
		if !slices.Contains([]string{"evalsha", "fcall", "config|resetstat"}, found[1]) {
			calls, err := strconv.Atoi(found[2])
			require.NoError(t, err)
			n += calls
		}
	}
	return n
}

// A script's Redis commands are a quarter of its cost, and one Redis runs one script at a time.
func TestAJoinAndALeaveOfAFreeRoomRunOnlyTheCommandsTheyNeed(t *testing.T) {
	rdb := redistest.Start(t).Client()
	e := room.New(rdb, room.Config{Journal: 100_000})
	pair := func(name string) (joins, leaves int) {
		session := room.NewSession()
		joins = asked(t, rdb, func() {
			_, err := e.Join(t.Context(), integration,
				room.JoinRequest{Request: name, Session: session, Seller: name})
			require.NoError(t, err)
		})
		leaves = asked(t, rdb, func() {
			_, err := e.Leave(t.Context(), integration,
				room.LeaveRequest{Request: name + "-ends", Session: session, Outcome: room.Completed})
			require.NoError(t, err)
		})
		return joins, leaves
	}
	pair("first") // begins the room and loads the scripts
	joins, leaves := pair("second")
	for i := range 5 { // five pairs: one lease in eight also deletes old data when it ends
		j, l := pair(fmt.Sprint("again ", i))
		joins, leaves = min(joins, j), min(leaves, l)
		require.LessOrEqual(t, j+l, 14+16+2)
	}
	require.LessOrEqual(t, joins, 14)
	require.LessOrEqual(t, leaves, 16)
}

// The embedded Redis's Lua makes an array of a table with a number as a key, up to that number.
func TestAJoinMakesNoLargeTablesInTheEmbeddedStore(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	e := room.New(rdb, room.Config{Journal: 100_000})
	join := func() {
		_, err := e.Join(t.Context(), integration,
			room.JoinRequest{Request: room.NewSession(), Session: room.NewSession()})
		require.NoError(t, err)
	}
	join() // loads the script
	const joins = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range joins {
		join()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/joins, uint64(4<<20))
}

// Most locks have no waiters.
func TestAThinLockRunsFewCommands(t *testing.T) {
	rdb := redistest.Start(t).Client()
	e := quiet(rdb)
	pair := func() (joins, leaves int) {
		session := room.NewSession()
		var st room.Standing
		joins = asked(t, rdb, func() {
			var err error
			st, err = e.Join(t.Context(), lockRoom, room.JoinRequest{Fresh: true, Session: session})
			require.NoError(t, err)
		})
		leaves = asked(t, rdb, func() {
			_, err := e.Leave(t.Context(), lockRoom,
				room.LeaveRequest{Session: session, Outcome: room.Completed, Fence: st.Fence})
			require.NoError(t, err)
		})
		return joins, leaves
	}
	pair() // loads the scripts
	joins, leaves := pair()
	require.LessOrEqual(t, joins, 5)
	require.LessOrEqual(t, leaves, 5)
}
