package presence

import (
	"context"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/batch"
	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

const (
	// most sessions of one call: fewer than the engine accepts, so that no other call waits long behind it
	mostSessions = 200
	mostWait     = 200 * time.Millisecond
)

// Session has the data about a session with sockets on this replica.
type Session struct {
	number room.ReplicaNumber // under which its presence was reported; 0 = it was not
	coming bool               // its presence is to be reported
	// when its sockets were probed, if no answer was seen since, ns of the hub's clock; 0 = no open probe
	probed int64
}

// Reported reports whether the engine knows that the session is here.
func (s *Session) Reported() bool { return s.number != 0 }

// Sessions are the sessions of a room with sockets on this replica.
type Sessions interface {
	// Present finds a session, and whether it waits; nil if it has no socket. It is called under the
	// room's lock.
	Present(id string) (s *Session, waits bool)
	// Observe takes the view that came with a reply.
	Observe(room.View)
}

// Room has the reports about one room: sessions that came and sessions that left. A report counts as made
// until the opposite is reported, since a failed call may have been executed. The room's lock guards it.
type Room struct {
	replica   *Replica
	id        room.ID
	mu        sync.Locker
	sessions  Sessions
	came      []string             // to be reported; some may have gone since
	went      map[string]departure // to be reported, by session
	silent    map[string]bool      // reported as gone, since they do not answer
	reporting bool
}

// departure is a session whose last socket has closed.
type departure struct {
	number room.ReplicaNumber // under which it was reported; 0 = it was not
	heard  int64              // when it was last heard of, ns of the hub's clock
}

// NewRoom returns the presence of a room with this lock.
func (r *Replica) NewRoom(id room.ID, mu sync.Locker, sessions Sessions) *Room {
	return &Room{replica: r, id: id, mu: mu, sessions: sessions}
}

// Busy reports whether a report is in progress, or a departure has not been reported.
func (r *Room) Busy() bool { return r.reporting || len(r.went) > 0 }

// waits reports whether there is something to report.
func (r *Room) waits() bool { return len(r.came)+len(r.went) > 0 }

// Entered handles a session's first socket. A departure that was not reported is withdrawn.
func (r *Room) Entered(id string, s *Session) {
	if d, ok := r.went[id]; ok && (d.number == 0 || d.number == r.replica.Number()) {
		delete(r.went, id)
		s.number = d.number
	}
}

// Joined handles a socket or an answer of a session. If the session was silent and waits, it is reported as
// present again.
func (r *Room) Joined(id string, s *Session, waits bool) {
	if r.silent[id] {
		delete(r.silent, id)
		r.Waits(id, s, waits)
	}
}

// Waits reports a waiting session as present, again if it was reported before, since the engine may have
// forgotten.
func (r *Room) Waits(id string, s *Session, waits bool) {
	if !waits || s.coming || r.silent[id] {
		return
	}
	s.coming = true
	r.came = append(r.came, id)
	r.Report()
}

// Left handles the end of a session's last socket. The session is reported as gone since something was last
// received from it; also if it was never reported as present, since it may wait by now.
func (r *Room) Left(id string, s *Session, heard int64) {
	r.gone(id, s, heard)
	delete(r.silent, id)
}

func (r *Room) gone(id string, s *Session, heard int64) {
	if r.went == nil {
		r.went = make(map[string]departure)
	}
	r.went[id] = departure{s.number, heard}
	s.number = 0
	r.Report()
}

// Silenced reports a session as gone that does not answer.
func (r *Room) Silenced(id string, s *Session, heard int64) {
	if r.silent[id] {
		return
	}
	if r.silent == nil {
		r.silent = make(map[string]bool)
	}
	r.silent[id] = true
	r.gone(id, s, heard)
}

// Answered reports the silent sessions as present that have answered.
func (r *Room) Answered(silent func(id string) bool) {
	for id := range r.silent {
		if s, waits := r.sessions.Present(id); s != nil && !silent(id) {
			r.Joined(id, s, waits)
		}
	}
}

// Report makes all pending reports.
func (r *Room) Report() {
	if !r.reporting {
		r.reporting = r.replica.Tasks.Spawn(r.report)
	}
}

// Resume is Report for a room that may have waited for a heartbeat.
func (r *Room) Resume() {
	if r.waits() {
		r.Report()
	}
}

// report is the content of one call.
type report struct {
	number room.ReplicaNumber
	came   []string
	gone   []room.Gone
}

// report makes calls until nothing is left to report, each for all sessions that have gathered. It takes the
// lock itself.
func (r *Room) report(ctx context.Context) {
	batch.Worker[report]{
		Next: r.next, Call: r.call, Return: r.restore, Wait: follow.Backoff{Most: mostWait}, Paced: true,
		Failed: func(ctx context.Context, err error) {
			r.replica.Tasks.Failed(ctx, "presence not recorded", r.id,
				err)
		},
	}.Run(ctx)
}

func (r *Room) call(ctx context.Context, a report) error {
	if len(a.came) > 0 {
		if err := r.replica.rooms.ensure(ctx, r.id, a.number); err != nil {
			return err
		}
	}
	view, err := r.replica.Engine.Presence(ctx, r.id, a.number, r.replica.calls.Add(1), a.came, a.gone)
	if err == nil {
		r.sessions.Observe(view)
	}
	return err
}

// next returns what to report. It returns false if there is nothing, or no number to report under; the next
// heartbeat then tries again.
func (r *Room) next() (report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, now := report{number: r.replica.Number()}, r.replica.Now()
	if r.replica.alive(now) {
		a.gone = r.departures(a.number, now)
		a.came = r.arrivals(mostSessions-len(a.gone), a.number)
	} else if r.waits() {
		r.replica.refused.Store(true)
	}
	r.reporting = len(a.came)+len(a.gone) > 0
	return a, r.reporting
}

func (r *Room) departures(number room.ReplicaNumber, now int64) (gone []room.Gone) {
	for id, d := range r.went {
		if len(gone) == mostSessions {
			break
		}
		if d.number == 0 {
			d.number = number
		}
		gone = append(gone, room.Gone{Session: id, Replica: d.number, For: time.Duration(now - d.heard)})
		delete(r.went, id)
	}
	return gone
}

// arrivals returns up to n sessions that have come and are still connected.
func (r *Room) arrivals(n int, number room.ReplicaNumber) (came []string) {
	for len(r.came) > 0 && len(came) < n {
		id := r.came[0]
		r.came = r.came[1:]
		s, _ := r.sessions.Present(id)
		if s == nil || !s.coming {
			continue
		}
		s.coming = false
		if !r.silent[id] {
			s.number = number
			came = append(came, id)
		}
	}
	if len(r.came) == 0 {
		r.came = nil
	}
	return came
}

// restore makes a report pending again whose call failed.
func (r *Room) restore(a report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.replica.Now()
	for _, g := range a.gone {
		s, _ := r.sessions.Present(g.Session)
		if s != nil && !r.silent[g.Session] { // it is back, and was perhaps not reported as gone
			if s.number == 0 {
				s.number = g.Replica
			}
			continue
		}
		if r.went == nil {
			r.went = make(map[string]departure)
		}
		if _, newer := r.went[g.Session]; !newer {
			r.went[g.Session] = departure{g.Replica, now - int64(g.For)}
		}
	}
	for _, id := range a.came {
		if s, waits := r.sessions.Present(id); s != nil {
			r.Waits(id, s, waits)
		}
	}
}
