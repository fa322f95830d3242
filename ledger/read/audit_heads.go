package read

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ErrDigest reports a text that is no digest of the audit's ends.
var ErrDigest = errors.New("is no digest that waitroom audit verify printed")

// heads are the ends of all rooms' chains.
type heads map[string]end

// end is the last row of a room's chain.
type end struct {
	seq  int64
	hash string // its first 128 bits
	at   int64  // unix ms
}

const (
	shortHash  = 32      // hexadecimal digits of a hash in heads
	longestEnd = 1 << 24 // bytes of heads, inflated
)

func short(hash string) string { return hash[:min(len(hash), shortHash)] }

func (h heads) rooms() []string { return slices.Sorted(maps.Keys(h)) }

// text returns the heads as one word.
func (h heads) text() string {
	var b bytes.Buffer
	out, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	list := make([][]any, 0, len(h))
	for _, id := range h.rooms() {
		list = append(list, []any{id, h[id].seq, short(h[id].hash), h[id].at})
	}
	_ = json.NewEncoder(out).Encode(list) // into memory; strings and integers always marshal
	_ = out.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// parseHeads reads the output of text; "" has no rooms.
func parseHeads(text string) (heads, error) {
	h := make(heads)
	if text == "" {
		return h, nil
	}
	packed, err := base64.RawURLEncoding.DecodeString(text)
	var list [][4]json.RawMessage
	if err == nil {
		in := io.LimitReader(flate.NewReader(bytes.NewReader(packed)), longestEnd)
		err = json.NewDecoder(in).Decode(&list)
	}
	for _, row := range list {
		var id string
		var e end
		err = errors.Join(err, json.Unmarshal(row[0], &id), json.Unmarshal(row[1], &e.seq),
			json.Unmarshal(row[2], &e.hash), json.Unmarshal(row[3], &e.at))
		h[id] = e
	}
	if err != nil || h.text() != text { // text behind the digest, or another spelling of the same heads
		return nil, fmt.Errorf("%q %w", text, ErrDigest)
	}
	return h, nil
}
