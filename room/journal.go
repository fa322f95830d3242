package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room/wire"
)

// Entry is the journal entry of one call, Record one change in it, and Kept a place that outlived a loss; see
// room/wire.
type (
	Entry  = wire.Entry
	Record = wire.Record
	Kept   = wire.Kept
)

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

// TrimJournals runs TrimJournal for several rooms, each of them once, in one round trip to each master. It
// returns one error or nil for each.
func (e *Engine) TrimJournals(ctx context.Context, journals []Journal) []error {
	var mu sync.Mutex
	var ids []ID
	entries, trimmed := make(map[ID][]Entry, len(journals)), make(map[ID]error, len(journals))
	for _, j := range journals {
		if len(j.Entries) > 0 {
			ids, entries[j.Room] = append(ids, j.Room), j.Entries
		}
	}
	failed := e.eachMaster(ctx, ids, func(ctx context.Context, ids []ID) error {
		trims := make([]*redis.IntCmd, len(ids))
		_, err := e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, id := range ids {
				trims[i] = p.XDel(ctx, e.names.Journal(id), idsOf(entries[id])...)
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		for i, id := range ids {
			trimmed[id] = storeError("trim journal", trims[i].Err())
		}
		return storeError("trim journals", err)
	})
	errs := make([]error, len(journals))
	for i, j := range journals {
		var known bool
		if errs[i], known = trimmed[j.Room]; !known { // its master was not asked
			errs[i] = failed[j.Room]
		}
	}
	return errs
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
