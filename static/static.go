// Package static holds the files that pages load: styles, ES modules, icons and what others made.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed css js icons thirdparty
var files embed.FS

// root is where Handler is to be mounted.
const root = "/static/"

// version changes with any byte of any file, so that a versioned address can be
// kept for ever by whoever has fetched it.
var version = "v-" + digest(files)

// Prefix is the versioned address of the files, without a closing slash. Modules
// import one another by relative path, so the version reaches all of them.
func Prefix() string { return root + version }

// Handler serves the files under /static/, with or without the version in the
// address. Only the current version's address is cached without asking again:
// during a rolling deploy another replica's version may be asked for here.
func Handler() http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, root)
		asked, rest, found := strings.Cut(path, "/")
		cache := "no-cache"
		if found && strings.HasPrefix(asked, "v-") {
			path = rest
			if asked == version {
				cache = "public, max-age=31536000, immutable"
			}
		}
		if info, err := fs.Stat(files, path); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", cache)
		w.Header().Set("ETag", `"`+version+`"`)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if strings.HasSuffix(path, ".js") {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		}
		request := r.Clone(r.Context())
		request.URL.Path = "/" + path
		request.URL.RawPath = ""
		server.ServeHTTP(w, request)
	})
}

func digest(tree fs.FS) string {
	sum := sha256.New()
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, path)
		sum.Write([]byte(path))
		sum.Write(content)
		return err
	})
	if err != nil {
		panic("static: embedded files cannot be read: " + err.Error())
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
