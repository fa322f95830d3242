package trim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/ledger/trim/pseudonym"
	"github.com/waitroom/waitroom/room/wire"
)

// sellerColumns are the columns of a table that may name a seller: ids, free text, and JSON documents.
type sellerColumns struct {
	table, key           string // room first, if the table has one
	sellers, texts, json []string
	unsealed             string // assignment for rewritten rows; "" = none
}

var sellerTables = []sellerColumns{
	{table: "timeline", key: "room, epoch, entry, n", sellers: []string{"seller"}, json: []string{"detail"}},
	{table: "places", key: "room, epoch, ticket", sellers: []string{"seller"}},
	{table: "leases", key: "room, fence", sellers: []string{"seller"}},
	{table: "messages", key: "room, message_id", sellers: []string{"seller", "now_seller"},
		texts: []string{"body"}},
	{table: "attributions", key: "room, message_id, kind, fence", sellers: []string{"seller"},
		texts: []string{"reason"}},
	{table: "actions", key: "room, epoch, entry, n", sellers: []string{"seller"}, texts: []string{"reason"},
		unsealed: "salt = ''"},
	{table: "incidents", key: "room, kind, subject, fence", texts: []string{"detail"}},
	{table: "parked", key: "room, epoch, entry", texts: []string{"error"}, json: []string{"body"}},
	{table: "outbox_tasks", key: "id", texts: []string{"last_error"}, json: []string{"payload"}},
}

const (
	eraseRows   = 200 // in one transaction
	erasePasses = 3   // because replicas may write meanwhile
)

// EraseSeller renames a seller in every table, including free text and tasks that are not sent yet. It
// returns how many rows of each table it rewrote, also beside an error; a repeat continues. The caller drains
// the journals first.
func (t *Trimmer) EraseSeller(ctx context.Context, seller, name string) (map[string]int64, error) {
	r := pseudonym.New(seller, name)
	rows := make(map[string]int64)
	for range erasePasses {
		found := int64(0)
		for _, n := range sellerTables {
			changed, err := t.eraseIn(ctx, n, r)
			rows[n.table] += changed
			found += changed
			if err != nil {
				return rows, fmt.Errorf("erase in %s: %w", n.table, err)
			}
		}
		if found == 0 {
			return rows, nil
		}
	}
	return rows, nil
}

// sellerRow is a row that names the seller, with its columns before and after.
type sellerRow struct {
	key           []any
	before, after []string
}

// eraseIn renames the seller in a table. It finds the rows outside any transaction, since it reads all of
// them.
func (t *Trimmer) eraseIn(ctx context.Context, n sellerColumns, r pseudonym.Renamer) (changed int64,
	err error) {
	rooms := make(map[wire.ID][]sellerRow)
	err = t.cfg.DB.Read(ctx, func(s sqldb.Session) error { return n.find(s, r, rooms) })
	if err != nil {
		return 0, err
	}
	for id, list := range rooms {
		for some := range slices.Chunk(list, eraseRows) {
			err := t.inRoom(ctx, id, func(w *work) error {
				for _, m := range some {
					if err := n.write(w, r, m); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return changed, err
			}
			changed += int64(len(some))
		}
	}
	return changed, nil
}

// find reads the rows that name the seller. It filters them again, since the database's LIKE finds too many.
func (n sellerColumns) find(s sqldb.Session, r pseudonym.Renamer, rooms map[wire.ID][]sellerRow) error {
	q := &schema.Conditions{}
	for _, column := range n.sellers {
		q.Add(column+" = %s", r.Seller)
	}
	for _, column := range n.free() {
		for _, form := range r.Forms {
			q.Add(column+` LIKE %s ESCAPE '!'`, "%"+likeEscape.Replace(form)+"%")
		}
	}
	columns := slices.Concat(n.keys(), n.free(), n.sellers)
	query := fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, strings.Join(columns, ", "), n.table,
		strings.Join(q.List, " OR "))
	return s.Each(func(scan func(...any) error) error {
		m, found, err := n.scan(scan, r)
		if found {
			rooms[n.room(m)] = append(rooms[n.room(m)], m)
		}
		return err
	}, query, q.Args...)
}

// scan reads a row, and reports whether it names the seller.
func (n sellerColumns) scan(scan func(...any) error, r pseudonym.Renamer) (m sellerRow, found bool,
	err error) {
	free := len(n.free())
	m = sellerRow{key: make([]any, len(n.keys())), before: make([]string, free), after: make([]string, free)}
	sellers := make([]*string, len(n.sellers))
	if err := scan(slices.Concat(pointers(m.key), pointers(m.before), pointers(sellers))...); err != nil {
		return m, false, err
	}
	for _, seller := range sellers {
		found = found || seller != nil && *seller == r.Seller
	}
	for i, text := range m.before {
		m.after[i] = n.rewrite(r, i, text)
		found = found || m.after[i] != text
	}
	return m, found, nil
}

func pointers[T any](values []T) (list []any) {
	for i := range values {
		list = append(list, &values[i])
	}
	return list
}

// room returns the room of a row; "" if its table has none.
func (n sellerColumns) room(m sellerRow) wire.ID {
	if n.keys()[0] != "room" {
		return ""
	}
	return wire.ID(fmt.Sprint(m.key[0]))
}

func (n sellerColumns) keys() []string { return strings.Split(n.key, ", ") }

// rewrite renames the seller in the text of a free column.
func (n sellerColumns) rewrite(r pseudonym.Renamer, column int, text string) string {
	if column >= len(n.texts) {
		return r.JSON(text)
	}
	return r.Text(text)
}

// free returns the columns with text, then those with JSON.
func (n sellerColumns) free() []string { return append(slices.Clone(n.texts), n.json...) }

// likeEscape escapes the characters that LIKE treats as patterns; ids contain underscores.
var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// write renames the seller in a row. It skips a column that has changed meanwhile, until the next pass.
func (n sellerColumns) write(w *work, r pseudonym.Renamer, m sellerRow) error {
	q := &schema.Conditions{}
	var set []string
	for _, column := range n.sellers {
		set = append(set, fmt.Sprintf("%[1]s = CASE WHEN %[1]s = %[2]s THEN %[3]s ELSE %[1]s END", column,
			q.Param(r.Seller), q.Param(r.Pseudonym)))
	}
	for i, column := range n.free() {
		if m.before[i] != m.after[i] {
			set = append(set, fmt.Sprintf("%[1]s = CASE WHEN %[1]s = %[2]s THEN %[3]s ELSE %[1]s END", column,
				q.Param(m.before[i]), q.Param(m.after[i])))
		}
	}
	if n.unsealed != "" {
		set = append(set, n.unsealed)
	}
	for i, column := range n.keys() {
		q.Add(column+" = %s", m.key[i])
	}
	_, err := w.Exec(fmt.Sprintf(`UPDATE %s SET %s WHERE %s`, n.table, strings.Join(set, ", "), q.Where()),
		q.Args...)
	return err
}
