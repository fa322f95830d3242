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

// zipper compresses answers as they are made. Its writers are used again: one takes near a megabyte to set
// up.
type zipper struct{ idle sync.Pool }

func (z *zipper) zip(body []byte) []byte {
	w, ok := z.idle.Get().(*gzip.Writer)
	if !ok {
		w, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails for a level that there is not
	}
	defer z.idle.Put(w)
	var small bytes.Buffer
	w.Reset(&small)
	_, _ = w.Write(body) // to memory, which does not fail
	_ = w.Close()
	return small.Bytes()
}

// sendZipped sends a page compressed, where the client takes that. Only a page without secrets: from the
// length of one that holds a secret and somebody else's text, that secret can be guessed piece by piece.
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
