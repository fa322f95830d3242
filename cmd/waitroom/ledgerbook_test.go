package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// ledgerBook is the ledger's content, read by SQL.
type ledgerBook struct {
	leases   []ledgerLease
	places   []ledgerPlace
	messages []ledgerMessage
	events   []event // by room, in order
}

// event is a line of the timeline: the work of one script.
type event struct {
	room, kind, entry string
	ms, sequence, n   int64 // its place in the journal
	at, ticket, fence int64
	ended             int64
	message           string
	asks              int64
}

type ledgerLease struct {
	room                    string
	epoch, fence, ticket    int64
	seller, outcome         string
	granted, expires, ended int64
}

type ledgerPlace struct {
	room          string
	epoch, ticket int64
	seller        string
	outcome       string
	fence         int64
	timesEnded    int
}

type ledgerMessage struct {
	room, id, state, result, reason string
	ticket, fence                   int64
	duplicate, completes            int64
	verified                        int
}

func openDatabase(t *testing.T, driver, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// rows calls read for every row of a query.
func rows(ctx context.Context, db *sql.DB, query string, read func(scan func(...any) error) error) error {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := read(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

func readLedger(t *testing.T, db *sql.DB) ledgerBook {
	t.Helper()
	var b ledgerBook
	require.NoError(t, rows(t.Context(), db,
		`SELECT room, epoch, fence, ticket, seller, COALESCE(outcome, ''), COALESCE(granted_at, 0),
		COALESCE(expires_at, 0), COALESCE(ended_at, 0) FROM leases ORDER BY room, fence`, func(scan func(...any) error) error {
			var l ledgerLease
			err := scan(&l.room, &l.epoch, &l.fence, &l.ticket, &l.seller, &l.outcome, &l.granted, &l.expires,
				&l.ended)
			b.leases = append(b.leases, l)
			return err
		}))
	require.NoError(t, rows(t.Context(), db,
		`SELECT room, epoch, ticket, seller, COALESCE(outcome, ''), COALESCE(fence, 0),
		(SELECT COUNT(*) FROM timeline t WHERE t.room = p.room AND t.epoch = p.epoch AND t.ticket = p.ticket AND t.kind = 'ended')
		FROM places p ORDER BY room, ticket`, func(scan func(...any) error) error {
			var p ledgerPlace
			err := scan(&p.room, &p.epoch, &p.ticket, &p.seller, &p.outcome, &p.fence, &p.timesEnded)
			b.places = append(b.places, p)
			return err
		}))
	require.NoError(t, rows(t.Context(), db,
		`SELECT room, message_id, state, result, reason, ticket, fence, duplicate, completes,
		(SELECT COUNT(*) FROM verifications v WHERE v.room = m.room AND v.message_id = m.message_id AND v.fence = m.fence
			AND v.completes = m.completes AND v.voided_at IS NULL)
		FROM messages m ORDER BY room, message_id`, func(scan func(...any) error) error {
			var m ledgerMessage
			err := scan(&m.room, &m.id, &m.state, &m.result, &m.reason, &m.ticket, &m.fence, &m.duplicate,
				&m.completes,
				&m.verified)
			b.messages = append(b.messages, m)
			return err
		}))
	b.events = readEvents(t, db)
	return b
}

// readEvents reads the journal of the scripts.
func readEvents(t *testing.T, db *sql.DB) (list []event) {
	t.Helper()
	require.NoError(t, rows(t.Context(), db,
		`SELECT room, entry, n, at, kind, ticket, fence, detail FROM timeline
		WHERE kind IN ('granted', 'extended', 'asked', 'message', 'ended')`, func(scan func(...any) error) error {
			var e event
			var text string
			if err := scan(&e.room, &e.entry, &e.n, &e.at, &e.kind, &e.ticket, &e.fence, &text); err != nil {
				return err
			}
			var detail struct {
				EndedAt   int64  `json:"ended_at"`
				MessageID string `json:"message_id"`
				Asks      int64
			}
			if err := json.Unmarshal([]byte(text), &detail); err != nil {
				return err
			}
			e.ended, e.message, e.asks = detail.EndedAt, detail.MessageID, detail.Asks
			_, err := fmt.Sscanf(e.entry, "%d-%d", &e.ms, &e.sequence)
			list = append(list, e)
			return err
		}))
	slices.SortFunc(list, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.room, b.room), cmp.Compare(a.ms, b.ms), cmp.Compare(a.sequence, b.sequence),
			cmp.Compare(a.n, b.n))
	})
	return list
}

// awaitLedger returns when no entry of the rooms waits to be written and no place in the database is open.
func awaitLedger(t *testing.T, rdb redis.UniversalClient, db *sql.DB, rooms ...string) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		for _, id := range rooms {
			n, err := rdb.XLen(t.Context(), room.Names{}.Journal(room.ID(id))).Result()
			if err != nil || n > 0 {
				return fmt.Errorf("%s: %d entries wait: %w", id, n, err)
			}
		}
		var open int
		err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM places WHERE outcome IS NULL`).Scan(&open)
		if err != nil || open > 0 {
			return fmt.Errorf("%d places are open: %w", open, err)
		}
		return nil
	})
}

// complete adds the facts that no client can know. These are the fence of a lease that was over before its
// holder looked, and the places of a join with a lost answer.
func (b ledgerBook) complete(stays []*stay) []*stay {
	byTicket, lost := map[string]*stay{}, map[string][]*stay{}
	for _, p := range stays {
		byTicket[fmt.Sprint(p.room, "/", p.ticket)] = p
		if p.repeated {
			lost[p.seller] = append(lost[p.seller], p)
		}
	}
	for _, place := range b.places {
		var later *stay
		for _, p := range lost[place.seller] {
			if p.ticket >= place.ticket && (later == nil || p.ticket < later.ticket) {
				later = p
			}
		}
		key := fmt.Sprint(place.room, "/", place.ticket)
		if byTicket[key] != nil || later == nil {
			continue
		}
		p := &stay{room: place.room, session: later.session, seller: place.seller, ticket: place.ticket,
			outcome: place.outcome, manner: later.manner,
			granted: span{0, lastMoment}, ended: span{0, lastMoment}}
		byTicket[key] = p
		stays = append(stays, p)
	}
	for _, l := range b.leases {
		if p := byTicket[fmt.Sprint(l.room, "/", l.ticket)]; p != nil && p.fence == 0 {
			p.fence = l.fence
		}
	}
	return stays
}

// compare reports where the ledger differs from the clients, and takes over its times, which lie in the
// clients' spans.
func (b ledgerBook) compare(stays []*stay) (wrong []string) {
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	b.comparePlaces(stays, report)
	b.compareLeases(stays, report)
	return wrong
}

type reportf func(format string, args ...any)

func (b ledgerBook) comparePlaces(stays []*stay, report reportf) {
	seen := map[string]*stay{}
	for _, p := range stays {
		if key := fmt.Sprint(p.room, "/", p.ticket); seen[key] != nil {
			report("%s: ticket %d was given twice", p.room, p.ticket)
		} else {
			seen[key] = p
		}
	}
	if len(b.places) != len(seen) {
		report("the ledger has %d places and the clients %d", len(b.places), len(seen))
	}
	var last ledgerPlace
	for _, l := range b.places {
		if l.room == last.room && (l.epoch != last.epoch || l.ticket != last.ticket+1) || l.room != last.room &&
			l.ticket != 1 {
			report("%s: ticket %d of epoch %d follows ticket %d of epoch %d", l.room, l.ticket, l.epoch, last.ticket,
				last.epoch)
		}
		last = l
		p := seen[fmt.Sprint(l.room, "/", l.ticket)]
		if p == nil || p.seller != l.seller || p.outcome != l.outcome || p.fence != l.fence || l.timesEnded != 1 {
			report("place: the ledger has %+v, its client %+v", l, p)
		}
	}
}

func (b ledgerBook) compareLeases(stays []*stay, report reportf) {
	seen := histories(stays)
	n := 0
	for _, h := range seen {
		n += len(h)
	}
	if n != len(b.leases) {
		report("the ledger has %d leases and the clients %d", len(b.leases), n)
	}
	var last ledgerLease
	for _, l := range b.leases { // by room and fence
		if l.room == last.room && (l.ticket <= last.ticket || l.granted < last.ended) {
			report("%s: lease %+v follows %+v", l.room, l, last)
		}
		last = l
		p := seen[l.room][l.fence]
		if p == nil || p.ticket != l.ticket || p.seller != l.seller || p.outcome != l.outcome ||
			!p.granted.has(l.granted) || !p.ended.has(l.ended) {
			report("lease: the ledger has %+v, its client %+v", l, p)
			continue
		}
		p.granted, p.ended = span{l.granted, l.granted}, span{l.ended, l.ended}
		if expires := p.expires(); !expires.has(l.expires) {
			report("lease: the ledger has %+v, and it may expire in %v", l, expires)
		}
	}
}

// compareMessages reports where the ledger has another answer than the carrier, or not one
// verification for each match.
func (b ledgerBook) compareMessages(messages []*message, x *accounts) (wrong []string) {
	answered := map[string]*message{}
	for _, m := range messages {
		answered[m.room+"/"+m.id] = m
	}
	if len(b.messages) != len(answered) {
		wrong = append(wrong, fmt.Sprintf("the ledger has %d messages and the carrier %d", len(b.messages),
			len(answered)))
	}
	for _, l := range b.messages {
		m := answered[l.room+"/"+l.id]
		if m == nil || l.state != "judged" ||
			(answer{l.result, l.reason, l.ticket, l.fence, l.duplicate == 1}) != m.answer {
			wrong = append(wrong, fmt.Sprintf("message: the ledger has %+v, the carrier %+v", l, m))
			continue
		}
		if j := x.judged(m); j == nil || j.verified != (l.verified == 1) || j.ends != (l.completes == 1) {
			wrong = append(wrong, fmt.Sprintf("message: the ledger has %+v, and by the rules it is %+v", l, j))
		}
	}
	return wrong
}
