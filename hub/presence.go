package hub

import (
	"context"
	"slices"
	"time"

	"github.com/waitroom/waitroom/room"
)

// beatBatch is how many sessions one beat names: fewer than the engine takes, so that no other
// request waits long behind it.
const beatBatch = 200

// heartbeat is a room's presence on this replica. The hall's lock guards it.
type heartbeat struct {
	came, went []string         // since the last beat: told at once
	lost       map[string]*loss // by session
	telling    bool
	beating    bool
	next       time.Time
}

// arrived tells the engine soon that the session is here: it may have been away.
func (l *hall) arrived(s *session) {
	l.beat.came = append(l.beat.came, s.id)
	l.tellPresence()
}

// departed tells the engine soon that the session's last socket here is gone.
func (l *hall) departed(s *session) {
	l.beat.went = append(l.beat.went, s.id)
	l.tellPresence()
}

func (l *hall) tellPresence() {
	if !l.beat.telling {
		l.beat.telling = l.h.spawn(l.tellComings)
	}
}

// tellComings tells who came and went, as many at a time as there are by then. What fails is not
// repeated: the next beat names who is here, and nobody vouches for who is not.
func (l *hall) tellComings(ctx context.Context) {
	for {
		came, went := l.comings()
		if len(came)+len(went) == 0 {
			return
		}
		l.seen(ctx, came, went)
	}
}

func (l *hall) comings() (came, went []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &l.beat
	came, b.came = present(b.came, beatBatch, l.here)
	went, b.went = present(b.went, beatBatch-len(came), func(id string) bool { return !l.here(id) })
	b.telling = len(came)+len(went) > 0
	return came, went
}

func (l *hall) here(id string) bool { return l.sessions[id] != nil }

// present takes up to n ids for which it is still so, and leaves the rest.
func present(list []string, n int, so func(string) bool) (taken, rest []string) {
	for i, id := range list {
		if len(taken) == n {
			return taken, list[i:]
		}
		if so(id) {
			taken = append(taken, id)
		}
	}
	return taken, nil
}

func (l *hall) seen(ctx context.Context, here, gone []string) bool {
	view, err := l.h.engine.Seen(ctx, l.id, l.h.cfg.Beat, here, gone)
	if err != nil {
		l.h.failed(ctx, "presence not told", l.id, err)
		return false
	}
	l.observe(view)
	return true
}

// silence tells of those who do not answer. What fails is told again by the next beat.
func (l *hall) silence(ctx context.Context, silent []room.Silence) {
	view, err := l.h.engine.Silent(ctx, l.id, l.h.cfg.Beat, silent)
	if err != nil {
		l.h.failed(ctx, "silence not told", l.id, err)
		return
	}
	l.observe(view)
}

// presence beats for every room, each Beat. The answers also show a mirror that is behind although
// the subscription looks healthy.
func (h *Hub) presence(ctx context.Context) {
	tick := time.NewTicker(h.cfg.Beat / 8)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			h.stoodStill(now.Sub(last))
			last = now
			h.eachHall(func(l *hall) { l.startBeat(now) })
		}
	}
}

func (l *hall) startBeat(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := &l.beat; !b.beating && l.live && (len(l.conns)+len(b.lost) > 0 || l.desk != nil) && !now.Before(b.next) {
		b.next = now.Add(l.h.cfg.Beat)
		b.beating = l.h.spawn(l.beatOnce)
	}
}

// beatOnce names everybody who waits here, in batches spread over the beat.
func (l *hall) beatOnce(ctx context.Context) {
	ids, silent := l.attendance()
	for part := range slices.Chunk(silent, beatBatch) {
		l.silence(ctx, part)
	}
	gaps := max(1, (len(ids)+beatBatch-1)/beatBatch)
	for first := true; first || len(ids) > 0; first = false {
		if !first && !pause(ctx, l.h.cfg.Beat/time.Duration(gaps+1)) {
			break
		}
		n := min(len(ids), beatBatch)
		if !l.seen(ctx, ids[:n], nil) {
			break
		}
		ids = ids[n:]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beat.beating = false
}
