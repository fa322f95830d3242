package lock

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Lease is one holding of a lock. One goroutine at a time may use it: Extend writes to it.
type Lease struct {
	Key   Key
	Fence int64 // grows with every lease of the key, for ever: hand it to each system that you write to
	// ExpiresAt is when the lease is over, by this process's monotonic clock. It is early: it counts from
	// before the request was sent.
	ExpiresAt time.Time

	proof string
}

// NewLease is for implementations of Locker. The proof, without spaces, identifies the lease to them: a
// credential, which only Token shows.
func NewLease(key Key, fence int64, expiresAt time.Time, proof string) *Lease {
	return &Lease{Key: key, Fence: fence, ExpiresAt: expiresAt, proof: proof}
}

// Proof is for implementations of Locker: it returns NewLease's proof.
func (l *Lease) Proof() string { return l.proof }

// Token returns a text for Locker.Resume: its bearer can extend and unlock the lease. Keep it out of logs.
func (l *Lease) Token() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s %s", l.Fence, l.proof, l.Key))
}

// ParseToken is for implementations of Locker: it returns a token's lease, without its end.
// The error wraps ErrNotHeld.
func ParseToken(token string) (*Lease, error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	fields := strings.Split(string(text), " ")
	if err != nil || len(fields) != 3 || fields[1] == "" {
		return nil, fmt.Errorf("%w: the text is no token", ErrNotHeld)
	}
	fence, err := strconv.ParseInt(fields[0], 10, 64)
	key, bad := ParseKey(fields[2])
	if err != nil || bad != nil || fence <= 0 {
		return nil, fmt.Errorf("%w: the text is no token", ErrNotHeld)
	}
	return NewLease(key, fence, time.Time{}, fields[1]), nil
}

// String returns the key and the fence.
func (l Lease) String() string { return fmt.Sprintf("%s#%d", l.Key, l.Fence) }

// GoString is String, so that no format shows the proof.
func (l Lease) GoString() string { return l.String() }
