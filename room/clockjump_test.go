package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sample is a call, the time in its reply, and the jump (`ahead`) that this reply has to reveal. All are in
// ms.
type sample struct{ sent, read, redis, ahead time.Duration }

func TestAClockJumpIsOnlyAnOffsetThatNoLateReplyExplains(t *testing.T) {
	const hour = 3_600_000 // ms: times in replies are unix times
	for name, samples := range map[string][]sample{
		"a clock that runs": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 1002, redis: hour + 1001}},
		"a reply that was late": {{sent: 0, read: 9000, redis: hour},
			{sent: 9000, read: 9002, redis: hour + 9001}},
		"a call that was late": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 10, read: 9000, redis: hour + 8999}},
		"both, and the clock as it was": {{sent: 0, read: 9000, redis: hour + 8999},
			{sent: 9001, read: 20_000, redis: hour + 9002}},
		"a clock that is slewed": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 1002, redis: hour + 1901}, {sent: 2000, read: 2002, redis: hour + 3801}},
		"a clock that was set back": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 1002, redis: hour - 20_000, ahead: -20_998}},
		"a clock that is slewed back": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 1002, redis: hour + 101}},
		"an answer from before it was set back, read after it": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1001, read: 1003, redis: hour - 19_998, ahead: -20_997},
			{sent: 1000, read: 1004, redis: hour + 1001}, {sent: 1005, read: 1007, redis: hour - 19_994}},
		"a jump": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 1002, redis: hour + 21_001, ahead: 19_997}},
		"a jump that is seen late": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1000, read: 3000, redis: hour + 21_001, ahead: 17_999}},
		"a jump right after one back": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 100, read: 102, redis: hour - 9899, ahead: -9997},
			{sent: 200, read: 202, redis: hour + 201, ahead: 9997}},
		"an answer from before a jump, read after it": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 1001, read: 1003, redis: hour + 21_002, ahead: 19_997},
			{sent: 1000, read: 1004, redis: hour + 1000}, {sent: 1005, read: 1007, redis: hour + 21_006},
			{sent: 2000, read: 2002, redis: hour + 2001, ahead: -19_997},
			{sent: 3000, read: 3002, redis: hour + 23_001, ahead: 19_997}},
		"two jumps": {{sent: 0, read: 2, redis: hour + 1},
			{sent: 100, read: 102, redis: hour + 5101, ahead: 4997},
			{sent: 200, read: 202, redis: hour + 10_201, ahead: 4997}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(time.Hour, false)
			for _, x := range samples {
				now := x.redis
				got := m.observeTime("", m.start.Add(x.sent*time.Millisecond),
					m.start.Add(x.read*time.Millisecond), int64(now))
				require.Equal(t, x.ahead*time.Millisecond, got.Truncate(time.Millisecond))
			}
		})
	}
}

func TestAJumpIsForgottenWithTheQuarantine(t *testing.T) {
	m := newMemory(time.Hour, false)
	m.observeTime("a", m.start, m.start, 1000)
	require.Zero(t, m.jumpedAhead("a", time.Minute, m.start))
	m.observeTime("a", m.start, m.start, 9000)
	require.Equal(t, int64(9000), m.jumpedAhead("b", time.Minute, m.start.Add(time.Minute)),
		"all rooms have one clock")
	require.Zero(t, m.jumpedAhead("a", time.Minute, m.start.Add(time.Minute+1)))
	require.NotZero(t, m.jumpedAhead("a", 2*time.Minute, m.start.Add(time.Minute+1)),
		"a room may have a longer one")
}

func TestAJumpThatWasCorrectedLiesAheadOfNoClock(t *testing.T) {
	m := newMemory(time.Hour, false)
	m.observeTime("a", m.start, m.start, 1000)
	m.observeTime("a", m.start, m.start, 3_601_000)
	later := m.start.Add(time.Second)
	m.observeTime("a", later, later, 2000)
	require.Equal(t, int64(2000), m.jumpedAhead("a", time.Minute, later))
}

func TestShardsOfAClusterHaveClocksOfTheirOwn(t *testing.T) {
	m := newMemory(time.Hour, true)
	require.Zero(t, m.observeTime("a", m.start, m.start, 1000))
	require.Zero(t, m.observeTime("b", m.start, m.start, 99_000))
	require.Zero(t, m.latestTime("c", m.start), "nothing is known of it")
	require.Equal(t, int64(1001)+lateMost.Milliseconds(), m.latestTime("a", m.start))
	m.observeTime("b", m.start, m.start, 199_000)
	require.Zero(t, m.jumpedAhead("a", time.Minute, m.start))
	require.Equal(t, int64(199_000), m.jumpedAhead("b", time.Minute, m.start))
}

func TestClockOffsetsOfRoomsThatNoCallUsesAreForgotten(t *testing.T) {
	m := newMemory(time.Hour, true)
	m.observeTime("a", m.start, m.start, 1000)
	later := m.start.Add(offsetsKept + 1)
	m.observeTime("b", later, later, 1000)
	require.NotContains(t, m.rooms, ID("a"))
	require.Contains(t, m.rooms, ID("b"))
}
