package web

import (
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/web/reply"
)

// lockedAnswer is the answer to the holder.
type lockedAnswer struct {
	Status    room.Status    `json:"status"`
	Room      room.ID        `json:"room"`
	Session   string         `json:"session_id"`
	Seller    string         `json:"seller_id"`
	Ticket    int64          `json:"ticket"`
	Fence     int64          `json:"fence"`
	GrantedAt reply.Instant  `json:"granted_at"`
	ExpiresAt reply.Instant  `json:"expires_at"`
	ExpiresIn int64          `json:"expires_in"`
	AskAfter  *reply.Instant `json:"ask_after,omitempty"` // set while the number is busy
	ClaimBy   *reply.Instant `json:"claim_by,omitempty"`  // the claim's deadline; nil without one
	Epoch     int64          `json:"epoch"`
	Version   int64          `json:"version"`
}

// waitingAnswer is the answer to a seller in line.
type waitingAnswer struct {
	Status         room.Status    `json:"status"`
	Room           room.ID        `json:"room"`
	Session        string         `json:"session_id"`
	Seller         string         `json:"seller_id"`
	Ticket         int64          `json:"ticket"`
	Position       int            `json:"queue_position"`
	Length         int            `json:"queue_length"`
	EstimatedWait  *int64         `json:"estimated_wait"`
	MaximumWait    *int64         `json:"maximum_wait"`
	LeaseExpiresAt *reply.Instant `json:"lease_expires_at"`
	wire.Marks
	Epoch   int64 `json:"epoch"`
	Version int64 `json:"version"`
}

// endedAnswer is the answer to a session whose last place has ended.
type endedAnswer struct {
	Status  room.Status  `json:"status"`
	Outcome room.Outcome `json:"outcome"`
}

// leftAnswer answers a seller that gave up its place: "released" a lease, "left" the line.
type leftAnswer struct {
	Status  string       `json:"status"`
	Outcome room.Outcome `json:"outcome"`
	Room    room.ID      `json:"room"`
	Session string       `json:"session_id"`
	Ticket  int64        `json:"ticket"`
	Fence   int64        `json:"fence,omitempty"`
	Already bool         `json:"already,omitempty"` // a message completed the lease earlier
	Epoch   int64        `json:"epoch"`
	Version int64        `json:"version"`
}

// messagesAnswer is the answer to a program without a socket.
type messagesAnswer struct {
	Room     room.ID         `json:"room"`
	Fence    *int64          `json:"fence"` // of the place's turn; null before it
	Status   room.Status     `json:"status"`
	Messages []messageAnswer `json:"messages"`
	// the turn has ended, and the ledger is still deciding whether one more message belongs to it
	Judging bool `json:"judging,omitempty"`
}

type messageAnswer struct {
	MessageID  string        `json:"message_id"`
	Text       string        `json:"text"`
	Code       *string       `json:"code"`
	ReceivedAt reply.Instant `json:"received_at"`
	Late       bool          `json:"late"`
	Unreadable bool          `json:"unreadable,omitempty"` // another secret has sealed it
}

// statusAnswer is the answer to every caller; only Me depends on the session.
type statusAnswer struct {
	Room   room.ID `json:"room"`
	Status string  `json:"status"`
	wire.Public
	Length        int            `json:"queue_length"`
	ExpiresIn     *int64         `json:"expires_in"`
	EstimatedWait *int64         `json:"estimated_wait"`
	OpensAt       *reply.Instant `json:"opens_at"` // null while it is open
	Notice        *wire.Notice   `json:"notice"`   // null without an announcement
	Epoch         int64          `json:"epoch"`
	Version       int64          `json:"version"`
	ServerTime    int64          `json:"server_time"`
	Me            any            `json:"me"`
}

// standingAnswer returns the answer about a session's own place; nil without one.
func standingAnswer(id room.ID, session string, v room.View, p room.Place, lease time.Duration) any {
	switch p.Status {
	case room.Locked:
		return lockedAnswer{Status: p.Status, Room: id, Session: session, Seller: p.Seller, Ticket: p.Ticket,
			Fence:     p.Fence,
			GrantedAt: reply.Instant(v.Lease.GrantedAt), ExpiresAt: reply.Instant(v.Lease.ExpiresAt),
			ExpiresIn: *expiresIn(v),
			AskAfter:  askAfter(v), ClaimBy: claimBy(v), Epoch: v.Epoch, Version: v.Version}
	case room.Waiting:
		a := waitingAnswer{Status: p.Status, Room: id, Session: session, Seller: p.Seller, Ticket: p.Ticket,
			Position: p.Position, Length: v.Waiting, Marks: p.Marks, Epoch: v.Epoch, Version: v.Version}
		a.EstimatedWait, a.MaximumWait = waits(v, p.Position, lease)
		if v.Lease != nil {
			a.LeaseExpiresAt = new(reply.Instant(v.Lease.ExpiresAt))
		}
		return a
	case room.Ended:
		return endedAnswer{Status: p.Status, Outcome: p.Outcome}
	}
	return nil
}

// claimBy returns the deadline for claiming the lease; nil if no claim is needed.
func claimBy(v room.View) *reply.Instant {
	if v.Lease == nil || v.Lease.ClaimBy == 0 {
		return nil
	}
	return new(reply.Instant(v.Lease.ClaimBy))
}

// askAfter returns when the holder may ask for a code; nil if it may ask now.
func askAfter(v room.View) *reply.Instant {
	if v.Lease == nil || v.Lease.AskAfter <= v.Now {
		return nil
	}
	return new(reply.Instant(v.Lease.AskAfter))
}

// waits returns the waits of a position in whole seconds; nil while paused.
func waits(v room.View, position int, lease time.Duration) (estimated, maximum *int64) {
	w, ok := v.WaitsAt(position, v.Now, lease)
	if !ok {
		return nil, nil
	}
	return new(room.Seconds(w.Estimated)), new(room.Seconds(w.Maximum))
}

// expiresIn returns the whole seconds left on the lease; nil if the lock is free.
func expiresIn(v room.View) *int64 {
	if v.Lease == nil {
		return nil
	}
	return new(room.Seconds(time.Duration(max(v.Lease.ExpiresAt-v.Now, 0)) * time.Millisecond))
}
