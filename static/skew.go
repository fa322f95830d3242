package static

import "strings"

// again is the script sent to a page of another version, while replicas are upgraded. A page without its
// script would show a place that stands still, so this one loads the page again until page and script come
// from replicas of one version.
var again = &file{
	kind:  kindOf(".js"),
	tag:   "again",
	plain: []byte("setTimeout(() => location.reload(), 1000 + Math.random() * 2000);\n"),
}

// ofPage reports whether a file is a script that pages load first.
func ofPage(path string) bool {
	return strings.HasPrefix(path, "bundle/") && strings.HasSuffix(path, ".js")
}
