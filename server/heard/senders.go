package heard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// The senders of a room's codes are kept, so that an operator can list them.
const (
	sendersKey   = "{waitroom}:senders:"
	sendersKept  = 30 * 24 * time.Hour // after the room's last code
	mostSenders  = 20                  // of a room, the latest
	sendersEvery = time.Hour           // how often one is recorded at most
)

// RecordSender records that a sender's message brought a session its code. Personal numbers are left out,
// since no list should have one. If the store is away it is lost: the next code is recorded.
func (h *Recorder) RecordSender(ctx context.Context, id room.ID, sender string) {
	if sender == "" || smstext.Personal(sender) || !h.isDue(string(id)+" "+sender, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	key := h.engine.Names().Key(sendersKey + string(id))
	at := h.engine.At(time.Now())
	_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAdd(ctx, key, redis.Z{Score: float64(at), Member: sender})
		p.ZRemRangeByRank(ctx, key, 0, -mostSenders-1)
		p.PExpire(ctx, key, sendersKept)
		return nil
	})
}

// isDue reports whether a room's sender is to be recorded at an instant, and takes it for recorded.
func (h *Recorder) isDue(name string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, known := h.senders.Get(name); known && now.Sub(last) < sendersEvery {
		return false
	}
	h.senders.Add(name, now)
	return true
}

// Senders returns who sent a room's codes within its last thirty days, the latest first. Of the spellings of
// one sender it returns the latest.
func Senders(ctx context.Context, client redis.UniversalClient, names room.Names, id room.ID) ([]string,
	error) {
	all, err := client.ZRevRange(ctx, names.Key(sendersKey+string(id)), 0, mostSenders-1).Result()
	if err != nil {
		return nil, fmt.Errorf("read the senders of codes: %w", err)
	}
	var list []string
	for _, sender := range all {
		if !smstext.OneOf(sender, list) {
			list = append(list, sender)
		}
	}
	return list, nil
}

// Warning is about a room that takes texts of every sender.
type Warning struct {
	Room   string // its name, or a prefix of names with a star
	Lately []string
}

// Warnings returns the rooms that are open to all senders: of those named, which may be prefixes with a star,
// and of those that a source was heard for. Without a client it returns the named ones alone.
func Warnings(ctx context.Context, client redis.UniversalClient, names room.Names, named []string,
	open func(room.ID) bool) (list []Warning, err error) {
	if client != nil {
		heard, err := Read(ctx, client, names)
		if err != nil {
			return nil, fmt.Errorf("read the sources of messages: %w", err)
		}
		for field := range heard {
			id, _, _ := strings.Cut(field, "/")
			named = append(named, id)
		}
	}
	slices.Sort(named)
	for _, name := range slices.Compact(named) {
		if !open(room.ID(name)) {
			continue
		}
		w := Warning{Room: name}
		if client != nil && !strings.HasSuffix(name, "*") {
			if w.Lately, err = Senders(ctx, client, names, room.ID(name)); err != nil {
				return nil, err
			}
		}
		list = append(list, w)
	}
	return list, nil
}

// Risk returns a sentence about what can happen.
func (w Warning) Risk() string {
	return w.Room + " takes texts of every sender: whoever knows its number can end a turn by a text, and be " +
		"sent the next code"
}

// Remedy returns a sentence about how to prevent it, with the senders of late as a line for the rooms file.
func (w Warning) Remedy() string {
	if len(w.Lately) == 0 {
		return "List the senders of its marketplace as sms_from in the rooms file (docs/production.md)."
	}
	quoted := make([]string, len(w.Lately))
	for i, sender := range w.Lately {
		quoted[i] = strconv.Quote(sender)
	}
	return "Where its codes of late are all its marketplace's, give it in the rooms file: sms_from: [" +
		strings.Join(quoted, ", ") + "]"
}
