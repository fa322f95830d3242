// Package static holds the files that pages load: what is bundled of the styles and ES modules, these themselves, icons and
// what others made.
package static

import (
	"embed"
	"net/http"
	"strings"
)

//go:embed bundle css embed.d.ts embed.js js icons thirdparty worker.js
var files embed.FS

// root is where Handler is to be mounted. module is what pages of other sites import: there it is one file, at an address that
// stays, and its new version is everywhere five minutes later. Below the version it is as it is written.
const (
	root   = "/static/"
	module = "embed.js"
)

var (
	all = read(files)
	// version changes with any byte of any file, so that a versioned address can be
	// kept for ever by whoever has fetched it.
	version = "v-" + digest(all)
)

// Prefix is the versioned address of the files, without a closing slash. Modules
// import one another by relative path, so the version reaches all of them.
func Prefix() string { return root + version }

// Worker serves the service worker, at an address that stays: browsers look there for a newer one by themselves.
func Worker() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		all["bundle/worker.js"].serve(w, r)
	})
}

// Handler serves the files under /static/, with or without the version in the
// address. Only the current version's address is cached without asking again:
// during a rolling deploy another replica's version may be asked for here.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, root)
		asked, rest, found := strings.Cut(path, "/")
		cache := "no-cache"
		if path == module {
			path, cache = "bundle/"+module, "public, max-age=300"
		}
		if found && strings.HasPrefix(asked, "v-") {
			path = rest
			if asked == version {
				cache = "public, max-age=31536000, immutable"
			} else if ofPage(path) {
				w.Header().Set("Cache-Control", "no-store")
				again.serve(w, r)
				return
			}
		}
		file, ok := all[path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", cache)
		if _, mapped := all[path+".map"]; mapped {
			w.Header().Set("SourceMap", Prefix()+"/"+path+".map")
		}
		file.serve(w, r)
	})
}
