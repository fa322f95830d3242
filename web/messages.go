package web

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

const (
	longestWait = 30 * time.Second
	// longest wait for the ledger's verdict on the message that ended a turn, as on sockets
	judgedWithin = time.Second
	lookAgain    = time.Second // poll interval, in case the subscription missed a change
	lookPause    = 50 * time.Millisecond
	waitingMost  = 2 // calls of one session
)

// messages is GET /api/{room}/lock/messages: it returns the code to a program without a socket.
func (h *lockAPI) messages(c *gin.Context) {
	session, err := h.sessionOf(c, "")
	if err == nil && session == "" {
		err = room.ErrNoPlace
	}
	wait, bad := waitOf(c)
	if err = cmp.Or(err, bad); err != nil {
		h.Fail(c, err)
		return
	}
	if wait > 0 {
		leave, ok := h.waiting.enter(session)
		if !ok {
			h.Refuse(c, "too_many_requests")
			return
		}
		defer leave()
	}
	seat, err := h.awaitMessages(c, session, wait)
	if err != nil {
		h.Fail(c, err)
		return
	}
	a := messagesAnswer{Room: request.Room(c), Status: seat.Status,
		Messages: make([]messageAnswer, 0, len(seat.Messages)),
		Judging:  seat.Status == room.Ended && seat.Judging}
	if seat.Fence != 0 {
		a.Fence = &seat.Fence
	}
	for _, m := range seat.Messages {
		a.Messages = append(a.Messages, messageAnswer{m.MessageID, m.Text, m.Code, reply.Instant(m.ReceivedAt),
			m.Late, m.Unreadable})
	}
	h.JSON(c, 200, a)
}

// waitOf returns ?wait= as a duration, capped at the longest.
func waitOf(c *gin.Context) (time.Duration, error) {
	given, ok := c.GetQuery("wait")
	if !ok {
		return 0, nil
	}
	seconds, err := strconv.ParseUint(given, 10, 31)
	if err != nil {
		return 0, problem.Refusal("invalid_query")
	}
	return min(time.Duration(seconds)*time.Second, longestWait), nil
}

// awaitMessages polls until there is something to answer. A turn ended by a message counts as over only once
// that message may be shown. awaitMessages subscribes to the room's changes only once it has to wait.
func (h *lockAPI) awaitMessages(c *gin.Context, session string, wait time.Duration) (room.Seat, error) {
	begun := time.Now()
	var changed <-chan struct{}
	for {
		_, seat, err := h.look(c, request.Room(c), session)
		if err != nil {
			return seat, err
		}
		if seat.Status == room.Idle {
			return seat, room.ErrNoPlace
		}
		// a program would take the late code of an earlier place, maybe another seller's, for this turn's
		seat.Messages = slices.DeleteFunc(seat.Messages,
			func(m room.Message) bool { return m.Ticket != seat.Ticket })
		slices.SortStableFunc(seat.Messages, func(a, b room.Message) int {
			return cmp.Compare(a.ReceivedAt, b.ReceivedAt)
		})
		over := seat.Status == room.Ended
		until := begun.Add(wait)
		switch {
		case newer(seat.Messages, c.Query("after")):
			return seat, nil
		case over && seat.Judging:
			until = begun.Add(judgedWithin)
		case over:
			return seat, nil
		}
		if !time.Now().Before(until) {
			return seat, nil
		}
		if changed == nil && h.Sockets != nil {
			var stop func()
			changed, stop = h.Sockets.Changes(request.Room(c))
			defer stop()
			continue // it may have changed before
		}
		if !pause(c, changed, time.Until(until)) {
			return seat, nil
		}
	}
}

// newer reports whether there is a message after the caller's last; after is "" without one.
func newer(messages []room.Message, after string) bool {
	at := slices.IndexFunc(messages, func(m room.Message) bool { return m.MessageID == after })
	return at+1 < len(messages)
}

// pause waits for a change; it returns false once no more changes will arrive.
func pause(c *gin.Context, changed <-chan struct{}, most time.Duration) bool {
	again := time.NewTimer(min(most, lookAgain))
	defer again.Stop()
	select {
	case _, ok := <-changed:
		if ok {
			time.Sleep(min(most, lookPause)) // a busy room is not read once for every change
		}
		return ok
	case <-again.C:
		return true
	case <-c.Request.Context().Done():
		return false
	}
}

// waitingCalls counts the waiting calls of each session.
type waitingCalls struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts one call until leave is called. It returns ok false at the limit.
func (w *waitingCalls) enter(session string) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[session] >= waitingMost {
		return nil, false
	}
	if w.of == nil {
		w.of = make(map[string]int)
	}
	w.of[session]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.of[session]--; w.of[session] == 0 {
			delete(w.of, session)
		}
	}, true
}
