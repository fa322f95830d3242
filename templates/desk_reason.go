package templates

import (
	"regexp"
	"strings"
	"sync"
)

// DeskReason returns an action's reason in the reader's language. What a person wrote stays; what the program
// recorded, in English or as the parameters of a search, is put into the reader's words.
func (t Text) DeskReason(action, reason string) string {
	switch action {
	case "exported", "exported_report", "exported_audit", "looked":
		return t.searched(reason)
	case "signed_in", "signed_out", "sign_in_failed", "sign_in_limited", "sign_in_refused", "sign_in_ended",
		"delivery_retried":
		return t.noted(reason)
	}
	return reason
}

// notes are the patterns of the reasons that the program records.
var notes = sync.OnceValue(func() (patterns []*regexp.Regexp) {
	for _, note := range TextIn("en").Desk.Audit.Notes {
		quoted := regexp.QuoteMeta(note)
		patterns = append(patterns, regexp.MustCompile("^"+braced.ReplaceAllString(quoted, "(.+)")+"$"))
	}
	return patterns
})

var braced = regexp.MustCompile(`\\\{\w+\\\}`)

func (t Text) noted(reason string) string {
	for n, pattern := range notes() {
		if found := pattern.FindStringSubmatch(reason); found != nil {
			words := t.Desk.Audit.Notes[n]
			if len(found) > 1 {
				words = placeholder.ReplaceAllLiteralString(words, found[1])
			}
			return words
		}
	}
	return reason
}

// searched words the parameters of a search, such as seller=s-1&from=2026-07-03. One that it does not know
// leaves all as it is.
func (t Text) searched(reason string) string {
	if reason == "" {
		return ""
	}
	var words []string
	for part := range strings.SplitSeq(reason, "&") {
		name, value, _ := strings.Cut(part, "=")
		said := t.parameter(name, value)
		if said == "" {
			return reason
		}
		words = append(words, said)
	}
	return strings.Join(words, t.Desk.Story.Sep)
}

func (t Text) parameter(name, value string) string {
	switch name {
	case "seller":
		return t.Desk.Seller + " " + value
	case "room":
		return t.Desk.Room + " " + value
	case "who":
		return t.Desk.Who + " " + value
	case "action":
		return t.DeskAction(value)
	case "from":
		return fill(t.Desk.Audit.From, "at", value)
	case "to":
		return fill(t.Desk.Audit.To, "at", value)
	case "limit":
		return fill(t.Desk.Audit.Limit, "n", value)
	case "cursor":
		return t.Desk.Audit.GoesOn
	}
	return ""
}
