package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Entry is the journal entry of one call of a verb.
//
// ID is the id of the entry in the room's Redis stream, and grows. With Epoch it is the ledger's idempotency
// key, unless a Redis that lost its last writes gave it out again.
type Entry struct {
	ID      string
	Epoch   int64
	Version int64
	Records []Record
	Trace   string // the W3C traceparent of the call's span; "" = none that is sampled

	Odd error  // why the entry is malformed, so that only ID and Raw count; nil = it is well-formed
	Raw string // the content of a malformed entry
}

// Record is one change in a room. Type decides which fields count:
//
//	epoch     a new epoch began: open places of earlier epochs are lost, except those in Kept
//	"told"    Ticket Seller Of JoinedAt Fence GrantedAt ExpiresAt Outcome EndedAt: a place that a process
//	          observed and Redis lost (0 = not known); of an unclaimed lease, only the lease
//	joined    Ticket Seller
//	granted   Ticket Seller Fence GrantedAt ExpiresAt
//	extended  Ticket Seller Fence ExpiresAt
//	ended     Ticket Seller Outcome EndedAt, and Fence of a holder; if Outcome is unclaimed only the lease
//	          ended, and the place is away from then on
//	away      Ticket Seller Since: the waiter is passed over from now on
//	back      Ticket Seller
//	moved     Ticket Seller Position
//	asked     Ticket Seller Fence Asks: the holder announced an ask
//	message   MessageNote Result Reason Code Duplicate Judge Completes, and of the lease Ticket Fence Seller
//	          GrantedAt EndedAt
//	claimed   the holder claimed an unmatched message: as message, with Judge; of MessageNote only the id
//	assigned  support assigned an unmatched message: as claimed, with Who and Reason (support's text)
//	rejected  MessageID Ticket Fence Seller: the holder rejected a message
//	incident  Action (the kind) Reason MessageID: an event that a person should look at
//	action    Who Action Reason: an action of support, with Ticket Seller, Fence and MessageID as far as it
//	          concerns them; with Seconds of an extension; with FromPosition and ToPosition of a move
type Record struct {
	Type      string  `json:"type"`
	At        int64   `json:"at"` // when it happened, unix ms of Redis's clock
	Ticket    int64   `json:"ticket"`
	Seller    string  `json:"seller"`
	Fence     int64   `json:"fence"`
	GrantedAt int64   `json:"granted_at"`
	ExpiresAt int64   `json:"expires_at"`
	EndedAt   int64   `json:"ended_at"` // of a message's live lease: when the message was matched
	Since     int64   `json:"since"`
	Position  int     `json:"position"`
	Asks      int     `json:"asks"`
	Outcome   Outcome `json:"outcome"`
	Of        int64   `json:"of"` // the place's epoch
	JoinedAt  int64   `json:"joined_at"`
	Kept      []Kept  `json:"kept"`
	Result    Result  `json:"result"`
	Reason    string  `json:"reason"`    // of a message: a Reason; of an action or assignment: support's text
	Code      bool    `json:"code"`      // the message has a code
	Duplicate bool    `json:"duplicate"` // an earlier message had the same sender and text
	Judge     bool    `json:"judge"`     // the ledger has to agree to the match
	Completes bool    `json:"completes"` // the match ended the lease
	Who       string  `json:"who"`
	Address   string  `json:"address,omitempty"`
	Action    string  `json:"action"`

	Seconds      int64 `json:"seconds"`
	FromPosition int   `json:"from_position"` // from 1 = next
	ToPosition   int   `json:"to_position"`
	MessageNote
}

// Kept is a waiter's place that is still in the line after a loss.
type Kept struct {
	Ticket int64  `json:"ticket"`
	Seller string `json:"seller"`
}

// Journal has the oldest entries of a room's journal, or the error of reading them.
type Journal struct {
	Room    ID
	Entries []Entry
	Err     error
}

// ReadJournal returns the oldest entries of a room's journal, at most n.
//
// A malformed entry has its error in Odd, so that it does not hold up later entries. Errors: ErrStore,
// ErrNewer.
func (e *Engine) ReadJournal(ctx context.Context, id ID, n int) ([]Entry, error) {
	list, err := e.rdb.XRangeN(ctx, e.names.Journal(id), "-", "+", int64(n)).Result()
	return entriesOf(list, err)
}

// ReadJournals runs ReadJournal for several rooms, in one round trip to each master.
func (e *Engine) ReadJournals(ctx context.Context, ids []ID, n int) []Journal {
	var mu sync.Mutex
	read := make(map[ID]Journal, len(ids))
	failed := e.eachMaster(ctx, ids, func(ctx context.Context, ids []ID) error {
		found := make([]*redis.XMessageSliceCmd, len(ids))
		_, err := e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, id := range ids {
				found[i] = p.XRangeN(ctx, e.names.Journal(id), "-", "+", int64(n))
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		for i, id := range ids {
			entries, err := entriesOf(found[i].Result())
			read[id] = Journal{Room: id, Entries: entries, Err: err}
		}
		return storeError("read journals", err)
	})
	journals := make([]Journal, len(ids))
	for i, id := range ids {
		var known bool
		if journals[i], known = read[id]; !known { // its master was not asked
			journals[i] = Journal{Room: id, Err: failed[id]}
		}
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
				return entries, nil // a later release has to read the rest
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

// TrimJournal deletes from a room's journal the entries that the ledger has. Error: ErrStore.
func (e *Engine) TrimJournal(ctx context.Context, id ID, entries []Entry) error {
	return e.TrimJournals(ctx, []Journal{{Room: id, Entries: entries}})[0]
}

// TrimJournals runs TrimJournal for several rooms in one round trip. It returns one error or nil for each.
func (e *Engine) TrimJournals(ctx context.Context, journals []Journal) []error {
	trims := make([]*redis.IntCmd, len(journals))
	_, _ = e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, j := range journals {
			if len(j.Entries) > 0 {
				trims[i] = p.XDel(ctx, e.names.Journal(j.Room), idsOf(j.Entries)...)
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

// text returns a field of a stream entry; "" if there is none.
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
