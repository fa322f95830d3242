package static

import "strings"

// again is what a page of another version is given where it asks for a script, while replicas are upgraded: ours knows another page. A page without its
// script would show a place that stands still, so it is loaded again, until it and its script come from replicas of one version.
var again = &file{kind: kindOf(".js"), tag: "again", plain: []byte("setTimeout(() => location.reload(), 1000 + Math.random() * 2000);\n")}

// ofPage reports whether a file is a script that pages begin with.
func ofPage(path string) bool {
	return strings.HasPrefix(path, "bundle/") && strings.HasSuffix(path, ".js")
}
