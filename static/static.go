// Package static serves the files that pages load: bundles, their styles and ES modules, icons and
// third-party code.
package static

import (
	"embed"
	"net/http"
	"strings"
)

//go:embed bundle css embed.d.ts embed.js js icons thirdparty worker.js
var files embed.FS

// root is the path to mount Handler at. module is what pages of other sites import, as one file at a stable
// address: browsers have a new version five minutes later. Under the version it is served unbundled.
const (
	root   = "/static/"
	module = "embed.js"
)

var (
	all = read(files)
	// version changes with any byte of any file, so that browsers may keep a versioned address for ever.
	version = "v-" + digest(all)
)

// Prefix returns the versioned address of the files, without a closing slash. Modules import one another by
// relative path, so the version reaches all of them.
func Prefix() string { return root + version }

// Worker serves the service worker at a stable address, at which browsers look for a newer version by
// themselves.
func Worker() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		all["bundle/worker.js"].serve(w, r)
	})
}

// Handler serves the files under /static/, with or without the version in the address. Only the current
// version's address is cached without revalidation: during a rolling deploy browsers may ask this replica for
// another one's version.
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
