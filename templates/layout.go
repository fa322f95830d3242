package templates

// noScript, as a page's refresh, says that it needs no script either.
const noScript = -1

// styles are in the order in which they may overrule one another.
func styles() []string { return []string{"base", "waiting", "turn", "room", "link"} }

// modules are the files that room.js leads to, for the browser to fetch at once
// instead of finding them one import after another.
func modules(refresh int) []string {
	if refresh == noScript {
		return nil
	}
	return []string{
		"actions", "alert", "asking", "backoff", "chime", "clock", "countdown", "dom", "http", "journey", "link", "lost",
		"narrator", "notice", "place", "question", "sms", "socket", "speak", "store", "turn", "unclaimed", "view", "wake", "words",
	}
}
