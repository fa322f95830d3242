package ledger

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// chained is a row of actions in its room's hash chain. Its hash covers the row and the previous hash, so an
// edited or missing row breaks the chain. The columns that name a seller are covered by a salted digest: an
// erasure rewrites them and deletes the salt.
type chained struct {
	Room                       string
	Epoch, N, At, Seq          int64
	Entry, Who, Action         string
	Ticket, Fence              int64
	MessageID                  string
	Detail                     string // as JSON; "" = none
	Address                    string // "" = none
	Texts, Prev                string
	seller, reason, salt, hash string
}

// textDigest returns the digest of the columns that name a seller.
func (c chained) textDigest() string { return digestOf(c.salt, c.seller, c.reason) }

// digest returns the hash of the row. Rows older than the columns detail and address have
// none, and keep their hash.
func (c chained) digest() string {
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

// chain appends an action to its room's chain.
func (w *work) chain(c *chained) error {
	err := w.Row(`SELECT seq, hash FROM audit_chains WHERE room = $1`, c.Room).Scan(&c.Seq, &c.Prev)
	if err != nil && !noRows(err) {
		return err
	}
	c.Seq, c.salt = c.Seq+1, rand.Text()
	c.Texts = c.textDigest()
	c.hash = c.digest()
	_, err = w.Exec(`INSERT INTO audit_chains (room, first, seq, hash) VALUES ($1, 1, $2, $3)
		ON CONFLICT (room) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`, c.Room, c.Seq, c.hash)
	return err
}
