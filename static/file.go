package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// worth is the least number of bytes that is compressed; with less, the headers weigh more.
const worth = 256

// kinds are the content types that browsers require, in place of the machine's own table.
var kinds = map[string]string{
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".map":         "application/json",
	".svg":         "image/svg+xml",
	".webmanifest": "application/manifest+json",
	".ts":          "text/plain; charset=utf-8", // types, for developers
	"":             "text/plain; charset=utf-8",
}

// file is a file in each form that the server sends: plain, Brotli and gzip. The gzip form is made at the
// first request for it.
type file struct {
	kind   string
	tag    string // a short digest of its content
	plain  []byte
	brotli []byte // nil if there is none
	gzip   func() []byte
}

// read loads all files. A file named like another with .br added is the other's Brotli form.
func read(tree fs.FS) map[string]*file {
	contents := make(map[string][]byte)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			contents[name], err = fs.ReadFile(tree, name)
		}
		return err
	})
	if err != nil {
		panic("static: embedded files cannot be read: " + err.Error())
	}
	read := make(map[string]*file, len(contents))
	for name, content := range contents {
		if _, of := contents[strings.TrimSuffix(name, ".br")]; of && strings.HasSuffix(name, ".br") {
			continue
		}
		sum := sha256.Sum256(content)
		read[name] = &file{kind: kindOf(name), tag: hex.EncodeToString(sum[:8]), plain: content,
			brotli: contents[name+".br"],
			gzip:   sync.OnceValue(func() []byte { return zip(content) })}
	}
	return read
}

func kindOf(name string) string {
	if kind, ok := kinds[path.Ext(name)]; ok {
		return kind
	}
	return mime.TypeByExtension(path.Ext(name))
}

func zip(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic("static: " + err.Error()) // the level is a constant
	}
	_, _ = w.Write(content) // to memory, which does not fail
	_ = w.Close()
	return out.Bytes()
}

// serve sends the smallest form that the client accepts.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("X-Content-Type-Options", "nosniff")
	if len(f.plain) < worth {
		f.send(w, r, "", f.plain)
		return
	}
	header.Add("Vary", "Accept-Encoding")
	switch {
	case f.brotli != nil && takes(r.Header, "br"):
		f.send(w, r, "br", f.brotli)
	case takes(r.Header, "gzip"):
		f.send(w, r, "gzip", f.gzip())
	default:
		f.send(w, r, "", f.plain)
	}
}

// send sends one form, whole. Each has an ETag of its own. Ranges are ignored, since a header with thousands
// of them costs net/http 24 ms and an answer of half a megabyte.
func (f *file) send(w http.ResponseWriter, r *http.Request, coding string, content []byte) {
	tag := f.tag
	if coding != "" {
		tag += "-" + coding
		w.Header().Set("Content-Encoding", coding)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	}
	r.Header.Del("Range")
	w.Header().Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// takes reports whether a client accepts a coding.
func takes(header http.Header, coding string) bool {
	for entry := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(entry), ";")
		if strings.TrimSpace(name) != coding {
			continue
		}
		q, given := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		value, err := strconv.ParseFloat(q, 64)
		return !given || (err == nil && value > 0)
	}
	return false
}

// digest returns a short digest of all files.
func digest(files map[string]*file) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum.Write([]byte(name))
		sum.Write(files[name].plain)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
