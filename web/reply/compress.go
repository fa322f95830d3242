package reply

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// zipper compresses answers. It reuses its writers: each needs near a megabyte.
type zipper struct{ idle sync.Pool }

func (z *zipper) zip(body []byte) []byte {
	w, ok := z.idle.Get().(*gzip.Writer)
	if !ok {
		w, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for an invalid level
	}
	defer z.idle.Put(w)
	var small bytes.Buffer
	w.Reset(&small)
	_, _ = w.Write(body) // writes to memory do not fail
	_ = w.Close()
	return small.Bytes()
}

// sendZipped sends a page compressed if the client accepts it. It is only for pages without secrets: the
// length of a compressed page with a secret and an attacker's text reveals the secret piece by piece.
func (r *Replies) sendZipped(c *gin.Context, status int, kind string, body []byte) {
	c.Writer.Header().Add("Vary", "Accept-Encoding")
	if takesGzip(c.Request.Header) {
		body = r.zips.zip(body)
		c.Header("Content-Encoding", "gzip")
		c.Header("Content-Length", strconv.Itoa(len(body)))
	}
	c.Data(status, kind, body)
}

// takesGzip reports whether a client can read gzip and does not rule it out.
func takesGzip(header http.Header) bool {
	for entry := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(entry, " ", "")), ";")
		if name == "gzip" {
			q, err := strconv.ParseFloat(strings.TrimPrefix(weight, "q="), 64)
			return weight == "" || (err == nil && q > 0)
		}
	}
	return false
}
