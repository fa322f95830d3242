package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Entry is what one script journalled. ID is the stream's, growing within a room; with Epoch it is the
// idempotency key of the ledger, unless a store that lost its last writes gave it out again.
type Entry struct {
	ID      string
	Epoch   int64
	Version int64
	Records []Record
	Trace   string // the W3C traceparent of the span in which the script was called; "" = none that is kept

	Odd error  // why the entry can not be read; the fields above but ID are not to be trusted then
	Raw string // and what it holds
}

// Record is one thing that happened. Type says which fields count:
//
//	epoch     a new epoch began: open places of earlier epochs are lost, but those of Kept, which go on in it
//	told      Ticket Seller Of JoinedAt Fence GrantedAt ExpiresAt Outcome EndedAt: a place as somebody was told it, which the store lost; 0 is not known. Of a lease that was not claimed nothing is said of the place
//	joined    Ticket Seller
//	granted   Ticket Seller Fence GrantedAt ExpiresAt
//	extended  Ticket Seller Fence ExpiresAt
//	ended     Ticket Seller Outcome EndedAt, Fence when it held the lock; where that is unclaimed the lease alone is over, and its place is away from then on
//	away      Ticket Seller Since: it is passed over from now on
//	back      Ticket Seller
//	moved     Ticket Seller Position
//	asked     Ticket Seller Fence Asks: the holder said that it asks for a code
//	message   MessageNote Result Reason Code Duplicate Judge Completes, and of the lease Ticket Fence Seller GrantedAt EndedAt
//	claimed   the holder said that an unmatched message is its own: as message, with Judge; of MessageNote the id alone
//	assigned  support said so of a lease that is live or over: as claimed, with Who and Reason (what support wrote)
//	rejected  MessageID Ticket Fence Seller: it said that one is not
//	incident  Action (the kind) Reason MessageID: something that must not happen did, and a person should look
//	action    Who Action Reason: what support did; of the one concerned Ticket Seller, and Fence of a lease, and MessageID;
//	          of more time its Seconds, of a move FromPosition ToPosition
type Record struct {
	Type      string  `json:"type"`
	At        int64   `json:"at"` // unix ms of Redis's clock
	Ticket    int64   `json:"ticket"`
	Seller    string  `json:"seller"`
	Fence     int64   `json:"fence"`
	GrantedAt int64   `json:"granted_at"`
	ExpiresAt int64   `json:"expires_at"`
	EndedAt   int64   `json:"ended_at"` // of a message's lease that goes on: when it was matched
	Since     int64   `json:"since"`
	Position  int     `json:"position"`
	Asks      int     `json:"asks"`
	Outcome   Outcome `json:"outcome"`
	Of        int64   `json:"of"` // the place's epoch
	JoinedAt  int64   `json:"joined_at"`
	Kept      []Kept  `json:"kept"`
	Result    Result  `json:"result"`
	Reason    string  `json:"reason"`    // of a message: a Reason; of an action, and what was assigned: what support wrote
	Code      bool    `json:"code"`      // a code was found in the message
	Duplicate bool    `json:"duplicate"` // the same sender and text as a message before
	Judge     bool    `json:"judge"`     // the ledger has to agree to the match
	Completes bool    `json:"completes"` // the match ended the lease
	Who       string  `json:"who"`
	Action    string  `json:"action"`

	Seconds      int64 `json:"seconds"`
	FromPosition int   `json:"from_position"` // from 1 = next
	ToPosition   int   `json:"to_position"`
	MessageNote
}

// Kept is a place that a loss left in the line.
type Kept struct {
	Ticket int64  `json:"ticket"`
	Seller string `json:"seller"`
}

// Journal is what was read of a room's journal, or why it was not.
type Journal struct {
	Room    ID
	Entries []Entry
	Err     error
}

// ReadJournal reads the oldest entries of a room's journal, at most n. One that can not be read is
// handed over as Odd, so that it holds up no other.
func (e *Engine) ReadJournal(ctx context.Context, id ID, n int) ([]Entry, error) {
	list, err := e.rdb.XRangeN(ctx, JournalKey(id), "-", "+", int64(n)).Result()
	return entriesOf(list, err)
}

// ReadJournals is ReadJournal of several rooms at once.
func (e *Engine) ReadJournals(ctx context.Context, ids []ID, n int) []Journal {
	found := make([]*redis.XMessageSliceCmd, len(ids))
	_, _ = e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			found[i] = p.XRangeN(ctx, JournalKey(id), "-", "+", int64(n))
		}
		return nil
	})
	journals := make([]Journal, len(ids))
	for i, id := range ids {
		entries, err := entriesOf(found[i].Result())
		journals[i] = Journal{Room: id, Entries: entries, Err: err}
	}
	return journals
}

func entriesOf(list []redis.XMessage, err error) ([]Entry, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: read journal: %w", ErrStore, err)
	}
	entries := make([]Entry, 0, len(list))
	for _, m := range list {
		if format, _ := strconv.Atoi(text(m, "format")); format > Format {
			if len(entries) > 0 {
				return entries, nil // those behind it wait for a later program
			}
			return nil, fmt.Errorf("read journal: %w: it is of format %d", ErrNewer, format)
		}
		entry, err := parseEntry(m)
		if err != nil {
			entry = Entry{ID: m.ID, Odd: err, Raw: fmt.Sprint(m.Values)}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// TrimJournal takes entries out of a room's journal: the ledger has them for good.
func (e *Engine) TrimJournal(ctx context.Context, id ID, entries []Entry) error {
	return e.TrimJournals(ctx, []Journal{{Room: id, Entries: entries}})[0]
}

// TrimJournals is TrimJournal of several rooms at once. It returns an error for each, or nil.
func (e *Engine) TrimJournals(ctx context.Context, journals []Journal) []error {
	trims := make([]*redis.IntCmd, len(journals))
	_, _ = e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, j := range journals {
			if len(j.Entries) > 0 {
				trims[i] = p.XDel(ctx, JournalKey(j.Room), idsOf(j.Entries)...)
			}
		}
		return nil
	})
	failed := make([]error, len(journals))
	for i, trim := range trims {
		if trim != nil && trim.Err() != nil {
			failed[i] = fmt.Errorf("%w: trim journal: %w", ErrStore, trim.Err())
		}
	}
	return failed
}

func idsOf(entries []Entry) []string {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.ID
	}
	return ids
}

func parseEntry(m redis.XMessage) (Entry, error) {
	entry := Entry{ID: m.ID, Trace: text(m, "trace")}
	var err error
	if entry.Epoch, err = strconv.ParseInt(text(m, "epoch"), 10, 64); err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: epoch: %w", m.ID, err)
	}
	if entry.Version, err = strconv.ParseInt(text(m, "version"), 10, 64); err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: version: %w", m.ID, err)
	}
	if err := json.Unmarshal([]byte(text(m, "records")), &entry.Records); err != nil {
		return Entry{}, fmt.Errorf("journal entry %s: records: %w", m.ID, err)
	}
	return entry, nil
}

// text is a field of what a stream holds; "" where there is none.
func text(m redis.XMessage, field string) string {
	switch value := m.Values[field].(type) {
	case string:
		return value
	case nil:
		return ""
	default:
		return fmt.Sprint(value)
	}
}
