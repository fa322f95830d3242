package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waitroom/waitroom/internal/similar"
	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// FoundSeller is a seller, with its latest event.
type FoundSeller struct {
	Seller string
	Room   wire.ID
	At     int64 // unix ms
}

// FoundSellers is the result of a search. Ids that begin with the text come before ids that contain it.
type FoundSellers struct {
	List  []FoundSeller
	Exact bool // the first id equals the text
	Near  bool // no id contains the text: these differ by one or two letters
	More  bool // more were found than are listed
}

const maxFound = 20

// FindSellers finds sellers by a part of their ids, in the ledger and in the journals of the pending rooms.
// It ignores case, width and separators. While the database is away, it returns those of the journals beside
// sqldb.ErrAway.
func (r *Reader) FindSellers(ctx context.Context, text string, pending []wire.ID) (found FoundSellers,
	err error) {
	text = schema.Plain(strings.TrimSpace(text))
	if text == "" {
		return found, nil
	}
	lately, failed := r.latestPending(ctx, pending)
	err = r.reading(ctx, "", func(w *work) (err error) {
		if found, err = w.exactSeller(text, lately); err == nil && !found.Exact {
			found, err = w.findSellers(newFinder(text, lately))
		}
		return err
	})
	if sqldb.Temporary(err) {
		found = newFinder(text, lately).found()
		if !errors.Is(err, sqldb.ErrAway) {
			err = fmt.Errorf("%w: %w", sqldb.ErrAway, err)
		}
	}
	if err = errors.Join(err, failed); err != nil {
		err = fmt.Errorf("find sellers: %w", err)
	}
	return found, err
}

// latestPending returns the sellers in some rooms' journals, with their latest events.
func (r *Reader) latestPending(ctx context.Context, ids []wire.ID) (map[string]FoundSeller, error) {
	each := make([]map[string]FoundSeller, len(ids))
	err := r.eachEntry(ctx, ids, func(i int, e wire.Entry) {
		for _, r := range e.Records {
			if seller := schema.Plain(r.Seller); seller != "" {
				if each[i] == nil {
					each[i] = make(map[string]FoundSeller)
				}
				each[i][seller] = FoundSeller{Seller: seller, Room: ids[i], At: r.At}
			}
		}
	})
	all := make(map[string]FoundSeller)
	for _, some := range each {
		for seller, f := range some {
			if f.At >= all[seller].At {
				all[seller] = f
			}
		}
	}
	return all, err
}

// exactSeller finds the seller whose id equals the text.
func (w *work) exactSeller(text string, lately map[string]FoundSeller) (found FoundSellers, err error) {
	one, known := lately[text]
	if !known {
		one.Seller = text
		err = w.lastOf(&one)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	return FoundSellers{List: []FoundSeller{one}, Exact: err == nil}, err
}

// lastOf reads a seller's latest event.
func (w *work) lastOf(f *FoundSeller) error {
	return w.Row(`SELECT room, at FROM timeline WHERE seller = $1 AND seller <> '' ORDER BY at DESC LIMIT 1`,
		f.Seller).Scan(&f.Room, &f.At)
}

// findSellers compares every seller of the ledger. Each costs one step in the timeline's index, however long
// its timeline is.
func (w *work) findSellers(f *finder) (FoundSellers, error) {
	err := w.Each(func(scan func(...any) error) error {
		var seller string
		err := scan(&seller)
		if _, known := f.lately[seller]; !known && err == nil {
			f.add(seller)
		}
		return err
	}, `WITH RECURSIVE sellers (seller) AS (
		SELECT min(seller) FROM timeline WHERE seller <> ''
		UNION ALL
		SELECT (SELECT min(t.seller) FROM timeline t WHERE t.seller > s.seller AND t.seller <> '') FROM sellers s
		WHERE s.seller IS NOT NULL
	) SELECT seller FROM sellers WHERE seller IS NOT NULL`)
	found := f.found()
	list := found.List
	found.List = nil
	for _, one := range list {
		if one.At == 0 && err == nil {
			if err = w.lastOf(&one); errors.Is(err, sql.ErrNoRows) {
				err = nil // the trim has deleted all its rows meanwhile
				continue
			}
		}
		found.List = append(found.List, one)
	}
	return found, err
}

// finder keeps the ids that match a text, best first.
type finder struct {
	text    string // folded
	letters int
	lately  map[string]FoundSeller
	ranks   [5][]string // equal, prefix, inside, one letter off, two letters off
}

func newFinder(text string, lately map[string]FoundSeller) *finder {
	text = similar.Fold(text)
	f := &finder{text: text, letters: utf8.RuneCountInString(text), lately: lately}
	for _, seller := range slices.Sorted(maps.Keys(lately)) {
		f.add(seller)
	}
	return f
}

// add keeps an id if it matches the text.
func (f *finder) add(seller string) {
	if rank := f.rank(similar.Fold(seller)); rank >= 0 && len(f.ranks[rank]) <= maxFound {
		f.ranks[rank] = append(f.ranks[rank], seller)
	}
}

// rank returns the index in ranks for a folded id; -1 = it does not match. With a text of 3 letters or more
// an id may differ by one letter, from 6 letters on by two, also where it only begins like the text.
func (f *finder) rank(folded string) int {
	switch {
	case folded == f.text:
		return 0
	case strings.HasPrefix(folded, f.text):
		return 1
	case strings.Contains(folded, f.text):
		return 2
	case f.letters < 3:
		return -1
	}
	off := similar.PrefixDistance(f.text, folded)
	if off == 1 || off == 2 && f.letters > 5 {
		return 2 + off
	}
	return -1
}

// found returns the best matches. Sellers that are in no journal have no room yet.
func (f *finder) found() (found FoundSellers) {
	ids := slices.Concat(f.ranks[:3]...)
	if len(ids) == 0 {
		ids, found.Near = slices.Concat(f.ranks[3:]...), true
	}
	found.Exact, found.More = len(f.ranks[0]) > 0, len(ids) > maxFound
	for _, seller := range ids[:min(len(ids), maxFound)] {
		found.List = append(found.List, FoundSeller{Seller: seller, Room: f.lately[seller].Room,
			At: f.lately[seller].At})
	}
	found.Near = found.Near && len(found.List) > 0
	return found
}
