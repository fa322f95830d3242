package schema

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// Chained is a row of actions in its room's hash chain. Its hash covers the row and the previous hash, so an
// edited or missing row breaks the chain. The columns that name a seller are covered by a salted digest: an
// erasure rewrites them and deletes the salt.
type Chained struct {
	Room                       string
	Epoch, N, At, Seq          int64
	Entry, Who, Action         string
	Ticket, Fence              int64
	MessageID                  string
	Detail                     string // as JSON; "" = none
	Address                    string // "" = none
	Texts, Prev                string
	Seller, Reason, Salt, Hash string
}

// TextDigest returns the digest of the columns that name a seller.
func (c Chained) TextDigest() string { return digestOf(c.Salt, c.Seller, c.Reason) }

// Digest returns the hash of the row. Rows older than the columns detail and address have none, and keep
// their hash.
func (c Chained) Digest() string {
	row := []any{c.Room, c.Epoch, c.N, c.At, c.Seq, c.Entry, c.Who, c.Action, c.Ticket, c.Fence, c.MessageID,
		c.Texts, c.Prev}
	if c.Detail != "" || c.Address != "" {
		row = append(row, c.Detail)
	}
	if c.Address != "" {
		row = append(row, c.Address)
	}
	return digestOf(row...)
}

// digestOf returns the SHA-256 of the values as JSON, so that different lists have different digests.
func digestOf(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings and integers always marshal
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Append appends the action to its room's chain, and sets the fields that the chain gives it.
func (c *Chained) Append(s sqldb.Session) error {
	err := s.Row(`SELECT seq, hash FROM audit_chains WHERE room = $1`, c.Room).Scan(&c.Seq, &c.Prev)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	c.Seq, c.Salt = c.Seq+1, rand.Text()
	c.Texts = c.TextDigest()
	c.Hash = c.Digest()
	_, err = s.Exec(`INSERT INTO audit_chains (room, first, seq, hash) VALUES ($1, 1, $2, $3)
		ON CONFLICT (room) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`, c.Room, c.Seq, c.Hash)
	return err
}
