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
	Came    int    // so many of the changes are sessions that have come
	// Changes are those sessions; then of each that has gone: session, host number that it was told under, for how long it has been gone (ms).
	Changes []any
}

// ReplicaNumber is what a replica is called where it tells who is connected to it: see Heartbeat. Zero is none.
type ReplicaNumber int64

// Gone is a session whose last socket at a replica is gone.
type Gone struct {
	Session string
	Host    ReplicaNumber // it was told to be here under that number
	For     time.Duration // since when
}

// Presence tells, once, who has come to a replica and who has gone; SeenBatch sessions in all at the most. Who has come is there until it is told
// that it has gone, or until the replica has no heartbeat any more: then it was there until the last one. Attend has to name the room before. Calls of a
// replica are numbered; one that comes after a later one does nothing.
func (e *Engine) Presence(ctx context.Context, id ID, replica ReplicaNumber, number int64, came []string, gone []Gone) (View, error) {
	changes := make([]any, 0, len(came)+3*len(gone))
	for _, s := range came {
		changes = append(changes, s)
	}
	longest := time.Duration(0)
	for _, g := range gone {
		changes = append(changes, g.Session, strconv.FormatInt(int64(g.Host), 10), g.For.Milliseconds())
		longest = max(longest, g.For)
	}
	away, earliest, err := e.cfg.AwayAfter-longest+justAfter, true, error(nil)
	if len(gone) > 0 { // before: whatever dies in between, somebody looks when they are away
		if earliest, err = e.index.dueIn(ctx, id, away); err != nil {
			return View{}, err
		}
	}
	st, err := e.standing(ctx, presenceVerb.with(presenceArgs{strconv.FormatInt(int64(replica), 10), number, len(came), changes}), id, "presence")
	if err == nil && !earliest { // who looked meanwhile may not have known
		_, err = e.index.dueIn(ctx, id, away)
	}
	return st.View, err
}

// Heartbeat says that a replica is alive, and has to be called several times in DeadAfter. It returns the number under which the replica tells who is
// connected to it. Where that is another one than it had, it was taken for dead, or the store lost what it told: all of it has to be told again. Zero asks for a new one.
func (e *Engine) Heartbeat(ctx context.Context, replica ReplicaNumber) (ReplicaNumber, error) {
	text, err := indexHeartbeatScript.Run(ctx, e.rdb, []string{e.index.keys[5], e.index.keys[6], e.index.keys[7], e.attended(replica)}, strconv.FormatInt(int64(replica), 10)).Text()
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

// DeadAfter is for how long a replica may be without a heartbeat until it is taken for dead. That is well within AwayAfter: what it told is
// taken back as of its last heartbeat, in every room, before anybody is away for it.
func (e *Engine) DeadAfter() time.Duration {
	return min(max(e.cfg.AwayAfter/4, 200*time.Millisecond), 2500*time.Millisecond)
}

// Attend notes that a replica is about to tell who is connected to it in some rooms, so that this can be taken back when it dies.
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

// attendedKept is how long the list of a replica's rooms is kept when it has no heartbeat any more: as in index/heartbeat.lua.
const attendedKept = time.Hour

// Unattend takes that back, when all who had come have gone.
func (e *Engine) Unattend(ctx context.Context, replica ReplicaNumber, id ID) error {
	return storeError("unattend", e.rdb.SRem(ctx, e.attended(replica), string(id)).Err())
}

func (e *Engine) attended(replica ReplicaNumber) string {
	return fmt.Sprintf("%sattended:%d", e.index.begin, replica)
}

const (
	expireBatch = 500              // rooms that are made due at a time
	expireAgain = 30 * time.Second // a word under the number of who has died may come late
)

// bury makes the rooms of replicas that have died due. replicas is as index/claim.lua writes it.
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
			if left, err = indexExpireReplicaScript.Run(ctx, e.rdb, []string{e.attended(ReplicaNumber(number)), e.index.keys[0]}, expireBatch).Int(); err != nil {
				return storeError("expire replica", err)
			}
		}
		e.expiredReplicas[ReplicaNumber(number)] = time.Now()
	}
	return nil
}
