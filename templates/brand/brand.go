// Package brand makes a portal's look on a room's pages: a style sheet of one colour, and a logo.
package brand

import (
	"crypto/sha256"
	"encoding/hex"
)

// File is served to browsers, which keep it for ever under its digest.
type File struct {
	Kind    string // the content type
	Content []byte
	Digest  string
}

func newFile(kind string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{kind, content, hex.EncodeToString(sum[:8])}
}
