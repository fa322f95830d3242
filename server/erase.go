package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/ledger/trim/pseudonym"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/reach"
)

// EraseRequest names the seller to erase.
type EraseRequest struct {
	Seller    string
	EndPlaces bool // end live places first; otherwise a seller with one is not erased
	Reason    string
}

// errHasPlace is returned for a seller with a live place.
var errHasPlace = errors.New("nothing was erased: end that first on the support desk, or give --end-places")

// Erase replaces a seller's name by a random one, in Redis first, then in the ledger. In between, the ledger
// records all entries of the journals. Erase writes each step on a line; the error names the failed step. A
// repeat continues, with another name.
func Erase(ctx context.Context, cfg Config, q EraseRequest, out io.Writer) (err error) {
	store.LogTo(slog.New(slog.DiscardHandler))
	e := &erasure{Server: &Server{cfg: cfg, log: slog.New(slog.DiscardHandler)}, out: out}
	defer e.Close()
	if e.q.Seller, err = room.ParseSeller(q.Seller); err != nil {
		return fmt.Errorf("--seller: %w", err)
	}
	e.q.EndPlaces, e.q.Pseudonym = q.EndPlaces, "erased-"+strings.ToLower(rand.Text())
	e.reason = pseudonym.New(e.q.Seller, e.q.Pseudonym).Text(q.Reason)
	if err := cfg.ledgerIsThere(); err != nil {
		return fmt.Errorf("nothing was erased: %w", err)
	}
	if cfg.Redis.Embedded() && serves(ctx, cfg.LocalURL()) {
		return errors.New("nothing was erased: a server with an embedded store serves, whose memory can " +
			"not be reached: stop it first, then it has forgotten")
	}
	if err := e.openStores(ctx, prometheus.NewRegistry()); err != nil {
		return fmt.Errorf("nothing was erased: %w", err)
	}
	return e.run(ctx)
}

// ledgerIsThere returns an error if the ledger's SQLite file is missing, since opening it would create one.
func (c Config) ledgerIsThere() error {
	path, ok := strings.CutPrefix(string(c.DatabaseURL), "sqlite:")
	if !ok {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s: there is no ledger: %w", called("database-url"), err)
	}
	return nil
}

// erasure is one run.
type erasure struct {
	*Server
	q      room.EraseRequest
	reason string
	out    io.Writer
}

func (e *erasure) run(ctx context.Context) error {
	rooms, err := e.engine.Rooms(ctx)
	if err == nil {
		err = e.check(ctx, rooms)
	}
	if err != nil {
		return err
	}
	if err := e.engine.Audit(ctx, room.SupportRoom, e.action()); err != nil {
		return fmt.Errorf("nothing was erased: audit: %w", err)
	}
	if err := e.inRedis(ctx, rooms); err != nil {
		return fmt.Errorf("redis: not all is erased there, and the ledger not at all; run it again: %w", err)
	}
	if err := e.recordAll(ctx); err != nil {
		return fmt.Errorf("ledger: not erased, and journals in Redis may name the seller until the ledger "+
			"has taken them in; Redis is done beside that; run it again when the database is back: %w", err)
	}
	if err := e.inLedger(ctx); err != nil {
		return fmt.Errorf("ledger: not all is erased there; Redis is done; run it again: %w", err)
	}
	fmt.Fprintln(e.out, "done    nothing names the seller any more")
	return nil
}

// action returns the audit's row of the erasure. The audit's verification takes a rewritten row to be erased
// only if its pseudonym stands in such a row.
func (e *erasure) action() room.Action {
	who := "waitroom erase"
	if u, err := user.Current(); err == nil {
		who += " (" + u.Username + ")"
	}
	return room.Action{Who: who, Action: schema.Erasure, Reason: e.reason, Seller: e.q.Pseudonym}
}

// check refuses a seller with a live place, before anything changes.
func (e *erasure) check(ctx context.Context, rooms []room.ID) error {
	q := e.q
	q.Check = true
	var has []string
	for _, id := range rooms {
		_, st, err := e.engine.EraseSeller(ctx, id, q)
		switch {
		case errors.Is(err, room.ErrSellerHasPlace) && st.Place.Status == room.Locked:
			has = append(has, fmt.Sprintf("holds the lock of %s (ticket %d)", id, st.Ticket))
		case errors.Is(err, room.ErrSellerHasPlace):
			has = append(has, fmt.Sprintf("waits in %s (ticket %d)", id, st.Ticket))
		case err != nil:
			return fmt.Errorf("nothing was erased: %s: %w", id, err)
		}
	}
	if len(has) > 0 {
		return fmt.Errorf("the seller %s: %w", strings.Join(has, " and "), errHasPlace)
	}
	return nil
}

func (e *erasure) inRedis(ctx context.Context, rooms []room.ID) error {
	for _, id := range rooms {
		n, _, err := e.engine.EraseSeller(ctx, id, e.q)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if n != (room.Erased{}) {
			fmt.Fprintf(e.out, "redis   %s: %d places, %d ended leases\n", id, n.Places, n.Leases)
		}
	}
	replies, err := e.engine.EraseReplies(ctx, e.q.Seller, e.q.Pseudonym)
	if err != nil {
		return err
	}
	sessions, err := identity.Erase(ctx, e.store.Client, e.engine.Names(), e.q.Seller)
	if err != nil {
		return err
	}
	browsers, err := push.Erase(ctx, e.store.Client, e.engine.Names(), e.q.Seller)
	if err != nil {
		return err
	}
	if err := reach.New(e.store.Client, e.engine.Names()).Erase(ctx, e.q.Seller); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "redis   %d rooms looked at, %d replies for repeats, %d sessions signed in, %d "+
		"browsers with notifications\n", len(rooms), replies, sessions, browsers)
	return nil
}

// eraseWithin bounds the recording of one room's journal.
const eraseWithin = 5 * time.Minute

// recordAll makes the ledger record all entries of the journals. A replica that has read an entry before
// finds it applied.
func (e *erasure) recordAll(ctx context.Context) error {
	if err := e.db.Away(); err != nil {
		return err
	}
	journals, err := e.engine.Journals(ctx)
	if err != nil {
		return err
	}
	for _, id := range journals {
		ctx, cancel := context.WithTimeout(ctx, eraseWithin)
		err := e.ledger.Drain(ctx, id)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

func (e *erasure) inLedger(ctx context.Context) error {
	rows, err := e.ledger.EraseSeller(ctx, e.q.Seller, e.q.Pseudonym)
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(e.out, "ledger  %s: %d rows\n", table, rows[table])
	}
	return err
}
