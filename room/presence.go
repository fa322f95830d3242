package room

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var presenceVerb = newVerb[presenceArgs]("presence")

type presenceArgs struct {
	Replica string // the replica's number
	Number  int64  // of this call, among that replica's in this room
	Came    int    // number of sessions that have come
	// Changes has those sessions, then three values for each session that has gone. They are the session, the
	// replica number under which it came, and how long it has been gone (ms).
	Changes []any
}

// ReplicaNumber identifies a replica in the presence data of rooms: see Heartbeat. Zero is none.
type ReplicaNumber int64

// Gone is a session whose last socket at a replica has closed.
type Gone struct {
	Session string
	Replica ReplicaNumber // the number under which the replica recorded the session
	For     time.Duration // since the socket closed
}

// Presence records the sessions that have come to a replica and those that have gone.
//
// Together they are at most SeenBatch. A session that has come is present until it has gone, or until the
// last heartbeat of a replica that died. The caller calls Attend for the room before. A replica numbers its
// calls; one that arrives after a later one does nothing. Error: ErrStore.
func (e *Engine) Presence(
	ctx context.Context, id ID, replica ReplicaNumber, number int64, came []string, gone []Gone,
) (View, error) {
	changes := make([]any, 0, len(came)+3*len(gone))
	for _, s := range came {
		changes = append(changes, s)
	}
	longest := time.Duration(0)
	for _, g := range gone {
		changes = append(changes, g.Session, strconv.FormatInt(int64(g.Replica), 10), g.For.Milliseconds())
		longest = max(longest, g.For)
	}
	away, earliest, err := e.cfg.AwayAfter-longest+justAfter, true, error(nil)
	if len(gone) > 0 { // before the call: so the room is due in time even if this process dies in between
		if earliest, err = e.index.dueIn(ctx, id, away); err != nil {
			return View{}, err
		}
	}
	args := presenceArgs{strconv.FormatInt(int64(replica), 10), number, len(came), changes}
	st, err := e.standing(ctx, presenceVerb.with(args), id)
	if err == nil && !earliest { // a replica that looked at the room meanwhile may have missed the change
		_, err = e.index.dueIn(ctx, id, away)
	}
	return st.View, err
}

// Heartbeat records that a replica is alive, and returns its number for Presence.
//
// The replica calls it several times in DeadAfter; zero asks for a new number. If the number changes, the
// replica counted as dead or Redis lost its presence data, and the replica records all its sessions again.
// Error: ErrStore.
func (e *Engine) Heartbeat(ctx context.Context, replica ReplicaNumber) (ReplicaNumber, error) {
	keys := []string{e.index.keys[5], e.index.keys[6], e.index.keys[7], e.attended(replica)}
	text, err := indexHeartbeatScript.Run(ctx, e.rdb, keys, strconv.FormatInt(int64(replica), 10)).Text()
	if err != nil {
		e.memory.failed("", err)
		return 0, storeError("heartbeat", err)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, storeError("heartbeat", err)
	}
	return ReplicaNumber(n), nil
}

// DeadAfter returns the time without a heartbeat after which a replica counts as dead.
//
// It is a quarter of AwayAfter, at least 200 ms and at most 2.5 s. So the replica's sessions count as gone
// since its last heartbeat, in every room, before any of them is away.
func (e *Engine) DeadAfter() time.Duration {
	return min(max(e.cfg.AwayAfter/4, 200*time.Millisecond), 2500*time.Millisecond)
}

// Attend records the rooms in which a replica is about to call Presence. If the replica dies, its sessions in
// these rooms count as gone. Error: ErrStore.
func (e *Engine) Attend(ctx context.Context, replica ReplicaNumber, rooms ...ID) error {
	names := make([]any, len(rooms))
	for i, id := range rooms {
		names[i] = string(id)
	}
	_, err := e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.SAdd(ctx, e.attended(replica), names...)
		p.PExpire(ctx, e.attended(replica), attendedKept)
		return nil
	})
	return storeError("attend", err)
}

// attendedKept is how long a dead replica's list of rooms is kept: as in index/heartbeat.lua.
const attendedKept = time.Hour

// Unattend removes rooms from the replica's list, once all its sessions there have gone. Error: ErrStore.
func (e *Engine) Unattend(ctx context.Context, replica ReplicaNumber, rooms ...ID) error {
	names := make([]any, len(rooms))
	for i, id := range rooms {
		names[i] = string(id)
	}
	return storeError("unattend", e.rdb.SRem(ctx, e.attended(replica), names...).Err())
}

func (e *Engine) attended(replica ReplicaNumber) string {
	return fmt.Sprintf("%sattended:%d", e.index.begin, replica)
}

const (
	expireBatch = 500              // most rooms that one script makes due
	expireAgain = 30 * time.Second // time until the rooms are made due again: a late call may have come
)

// expireReplicas makes the rooms of dead replicas due. replicas has the format of index/claim.lua.
func (e *Engine) expireReplicas(ctx context.Context, replicas string) error {
	fields := strings.Split(replicas, " ")
	if len(fields) != 4 || fields[3] == "" {
		clear(e.expiredReplicas)
		return nil
	}
	for pair := range strings.SplitSeq(fields[3], ",") {
		text, _, _ := strings.Cut(pair, ":")
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || time.Since(e.expiredReplicas[ReplicaNumber(number)]) < expireAgain {
			continue
		}
		for left := 1; left > 0; {
			keys := []string{e.attended(ReplicaNumber(number)), e.index.keys[0]}
			if left, err = indexExpireReplicaScript.Run(ctx, e.rdb, keys, expireBatch).Int(); err != nil {
				return storeError("expire replica", err)
			}
		}
		e.expiredReplicas[ReplicaNumber(number)] = time.Now()
	}
	return nil
}
