package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// AuditFault is a broken row of a room's audit chain.
type AuditFault struct {
	Room wire.ID
	Seq  int64  // the number of the row in the room's audit
	What string // in words
}

// AuditReport is the result of a verification.
type AuditReport struct {
	Rows     int // verified rows
	Erased   int // verified rows whose texts an erasure or the retention removed: their texts are not verified
	Unproven int // rooms whose row of the earlier digest is past the retention, so that it proves nothing there
	Faults   []AuditFault
	Heads    string // digest of the ends of all chains; it changes with every action and only then
}

// VerifyAudit verifies the hash chain over support's actions, in every room. Since is an earlier Heads from
// which the chains have to go on; "" = none. It returns ErrDigest for a text that is no Heads.
func (r *Reader) VerifyAudit(ctx context.Context, since string) (AuditReport, error) {
	noted, err := parseHeads(since)
	if err != nil {
		return AuditReport{}, err
	}
	ids, err := r.auditedRooms(ctx)
	if err != nil {
		return AuditReport{}, fmt.Errorf("verify audit: %w", err)
	}
	v := verifier{noted: noted, ends: make(heads), erasures: make(map[string]bool)}
	if r.cfg.Retention > 0 {
		v.horizon = r.cfg.Now().Add(-r.cfg.Retention).UnixMilli()
	}
	for _, id := range ids {
		err := r.cfg.DB.Transact(ctx, id, func(s sqldb.Session) error { return v.inRoom(s, id) })
		if err != nil {
			return AuditReport{}, fmt.Errorf("verify audit: %w", err)
		}
	}
	v.checkErased()
	v.checkRooms()
	v.report.Heads = v.ends.text()
	return v.report, nil
}

// auditedRooms returns the rooms with actions. SupportRoom comes last: a row is rewritten only after its
// erasure is recorded there.
func (r *Reader) auditedRooms(ctx context.Context) (ids []string, err error) {
	err = r.reading(ctx, "", func(w *work) error {
		ids = nil
		return w.Each(func(scan func(...any) error) error {
			ids = append(ids, "")
			return scan(&ids[len(ids)-1])
		}, `SELECT room FROM (SELECT room FROM audit_chains UNION SELECT room FROM actions) q
			ORDER BY CASE WHEN room = $1 THEN 1 ELSE 0 END, room`, string(wire.SupportRoom))
	})
	return ids, err
}

// verifier is the state of one verification of all rooms.
type verifier struct {
	horizon  int64 // unix ms: the retention takes older rows; 0 = it takes none
	noted    heads // of the earlier digest
	ends     heads
	erasures map[string]bool // recorded pseudonyms
	emptied  []emptied
	report   AuditReport
}

// emptied is a row without a salt that is younger than the retention.
type emptied struct {
	room         string
	seq          int64
	seller, text string
}

// inRoom verifies a room. Its transaction keeps the drain and the trim out of the room.
func (v *verifier) inRoom(s sqldb.Session, id string) error {
	r, err := v.read(s, id)
	if err != nil {
		return err
	}
	v.report.Rows, v.report.Erased = v.report.Rows+r.rows, v.report.Erased+r.erased
	v.report.Faults = append(v.report.Faults, r.faults...)
	v.emptied = append(v.emptied, r.emptied...)
	for _, name := range r.erasures {
		v.erasures[name] = true
	}
	v.ends[id] = end{r.last, short(r.hash), r.at}
	return nil
}

// checkErased finds rows whose salt is gone though no recorded erasure renamed their seller.
func (v *verifier) checkErased() {
	for _, e := range v.emptied {
		named := v.erasures[e.seller]
		for name := range v.erasures {
			named = named || strings.Contains(e.text, name)
		}
		if !named {
			v.report.Faults = append(v.report.Faults, AuditFault{wire.ID(e.room), e.seq,
				"was edited: its seller and reason can not be verified, and no erasure took them"})
		}
	}
}

// checkRooms finds rooms of the earlier digest without any row.
func (v *verifier) checkRooms() {
	for _, id := range v.noted.rooms() {
		if _, found := v.ends[id]; !found {
			v.report.Faults = append(v.report.Faults, AuditFault{wire.ID(id), v.noted[id].seq,
				"of the earlier digest is missing"})
		}
	}
}

// read verifies the rows of a room.
func (v *verifier) read(s sqldb.Session, id string) (r roomAudit, err error) {
	r = roomAudit{room: id, horizon: v.horizon}
	err = s.Row(`SELECT first, seq, hash FROM audit_chains WHERE room = $1`, id).Scan(&r.first, &r.last, &r.hash)
	if errors.Is(err, sql.ErrNoRows) {
		r.fault(0, "the end of the chain is missing")
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.next = r.first
	r.noted, r.compares = v.noted[id]
	err = s.Each(func(scan func(...any) error) error {
		c := schema.Chained{Room: id}
		err := scan(&c.Epoch, &c.Entry, &c.N, &c.At, &c.Who, &c.Action, &c.Reason, &c.Ticket, &c.Fence,
			&c.MessageID, &c.Detail, &c.Address, &c.Seller, &c.Seq, &c.Salt, &c.Texts, &c.Prev, &c.Hash)
		if err == nil {
			r.row(c)
		}
		return err
	}, `SELECT epoch, entry, n, at, who, action, reason, ticket, fence, message_id, detail, address, seller, seq,
		salt, texts, prev, hash
		FROM actions WHERE room = $1 ORDER BY seq, entry, n`, id)
	if err == nil && r.end() {
		v.report.Unproven++
	}
	return r, err
}

// roomAudit is the state of one room's verification.
type roomAudit struct {
	room              string
	horizon           int64
	first, next, last int64  // the chain's first row, the next expected one, and the last
	hash              string // the last row's hash
	prev              string // the previous row's hash; "" = not known
	at                int64  // time of the previous row
	noted             end    // of the earlier digest
	compares          bool   // there is one
	rows, erased      int
	erasures          []string
	emptied           []emptied
	faults            []AuditFault
}

// row verifies the next row of the room.
func (r *roomAudit) row(c schema.Chained) {
	if c.Seq < r.first || c.Seq > r.last {
		r.fault(c.Seq, "is outside the chain: it was added")
		return
	}
	r.missing(c.Seq)
	if c.Seq < r.next {
		r.fault(c.Seq, "is there twice")
		return
	}
	r.next = c.Seq + 1
	r.rows++
	if c.Seq == r.first && r.first > 1 && c.At >= r.horizon {
		r.fault(r.first, "begins the chain, though rows before it are missing that the retention keeps")
	}
	r.texts(c)
	switch {
	case c.Digest() != c.Hash:
		r.fault(c.Seq, "was edited")
	case r.prev != "" && c.Prev != r.prev:
		r.fault(c.Seq, "does not follow the row before it")
	case c.Seq == 1 && c.Prev != "":
		r.fault(c.Seq, "is not the first")
	}
	r.prev, r.at = c.Hash, c.At
	if r.compares && c.Seq == r.noted.seq && short(c.Hash) != r.noted.hash {
		r.fault(c.Seq, "is not the row of the earlier digest")
	}
}

// texts verifies the columns that name a seller. The retention empties those of the first row.
func (r *roomAudit) texts(c schema.Chained) {
	switch {
	case c.Salt == "":
		r.erased++
		if c.At >= r.horizon {
			r.emptied = append(r.emptied, emptied{r.room, c.Seq, c.Seller, c.Reason})
		}
	case c.TextDigest() != c.Texts:
		r.fault(c.Seq, "was edited: its seller or reason")
	case c.Room == string(wire.SupportRoom) && c.Action == schema.Erasure:
		r.erasures = append(r.erasures, c.Seller)
	}
}

// end verifies the end of the room's chain. It reports whether the earlier digest proves nothing here.
func (r *roomAudit) end() (unproven bool) {
	r.missing(r.last + 1)
	if r.prev != "" && r.prev != r.hash {
		r.fault(r.last, "does not end the chain: the end was edited")
	}
	switch {
	case r.rows == 0 && len(r.faults) == 0:
		r.fault(r.last, "is missing: the retention keeps a chain's last row")
	case r.compares && r.noted.seq > r.last:
		r.fault(r.noted.seq, "of the earlier digest is missing: the chain was shortened")
	case r.compares && r.noted.seq < r.first && r.noted.at >= r.horizon:
		r.fault(r.noted.seq, "of the earlier digest is missing, though the retention keeps it")
	}
	return r.compares && r.noted.seq < r.first && r.noted.at < r.horizon
}

// missing records a fault if rows are missing before this one.
func (r *roomAudit) missing(seq int64) {
	if r.next < seq {
		r.fault(r.next, fmt.Sprintf("to %d: missing", seq-1))
		r.next, r.prev = seq, ""
	}
}

func (r *roomAudit) fault(seq int64, what string) {
	r.faults = append(r.faults, AuditFault{Room: wire.ID(r.room), Seq: seq, What: what})
}
