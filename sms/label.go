package sms

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reach is how far, in characters, a word that announces a code may stand from it.
const reach = 60

// labelsOf are the words of a folded text that speak of a code: not of another number, and not of one that is over.
func labelsOf(folded string, runs []run) []place {
	labels := slices.DeleteFunc(codeWords.in(folded), func(l place) bool {
		switch l.kind {
		case naming, calling, heading, numbering:
			return ofAnother(before(folded, l.to)) || isSpent(folded, runs, l)
		case other:
			return true
		}
		return false
	})
	for _, site := range boundTo.FindAllStringIndex(folded, maxRuns) {
		labels = append(labels, place{site[0], site[1], naming})
	}
	return labels
}

// boundTo is what the last line begins with that binds a code to a site.
var boundTo = regexp.MustCompile(`@[a-z0-9-]+(?:\.[a-z0-9-]+)+ #`)

// isSpent is true where the word before a label, or the rest of its sentence up to the next run, says that the code is
// over or not wanted.
func isSpent(folded string, runs []run, l place) bool {
	rest := sentence(after(folded, l.to))
	if i := nextRun(runs, l.to); i < len(runs) {
		rest = rest[:min(len(rest), runs[i].from-l.to)]
	}
	return spentBefore.endsIn(strings.TrimRight(before(folded, l.from), " ")) || len(spent.in(rest)) > 0
}

// sentence is a text up to the end of its first sentence or line.
func sentence(text string) string {
	for i, r := range text {
		if r == '\n' || r == '。' || strings.ContainsRune(".!?", r) && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i]
		}
	}
	return text
}

// marker says which run a label means, if any.
type marker func(w *wording, label place) (run, bool)

// beside is the next run when only a particle or a bracket is between them; else the last one when it leads up to the
// label ("123456 is your …").
func beside(w *wording, label place) (run, bool) {
	next := nextRun(w.runs, label.to)
	if r, ok := follower(w, label, next); ok {
		return r, !r.letters || label.kind <= calling // "nhập mã TET2027" is an offer
	}
	return leader(w, label, lastRun(w.runs, next, label.from))
}

// follower is the run at an index when the label asks for what follows it and nothing but filling is between them.
func follower(w *wording, label place, i int) (run, bool) {
	if label.kind == entering || label.kind == closing || i == len(w.runs) || w.runs[i].word {
		return run{}, false
	}
	gap := w.folded[label.to:w.runs[i].from]
	return w.runs[i], near(gap) && onlyFilling(gap)
}

// leader is the run at an index when it leads up to the label. "[11ST] 인증번호 …" is a sender.
func leader(w *wording, label place, i int) (run, bool) {
	if label.kind == asking || i < 0 || w.runs[i].word {
		return run{}, false
	}
	r, gap := w.runs[i], w.folded[w.runs[i].to:label.from]
	if !near(gap) || !leadsUp(gap) {
		return run{}, false
	}
	return r, r.plain() && !r.letters || strings.ContainsFunc(gap, func(c rune) bool { return unicode.IsLetter(c) || c == '(' })
}

// onlyFilling is true for a gap within a sentence that has nothing but signs and filling words.
func onlyFilling(gap string) bool {
	for i := 0; i < len(gap); {
		if w, ok := copulas.at(gap, i); ok {
			i += len(w.text)
			continue
		}
		if w, ok := fillers.at(gap, i); ok {
			i += len(w.text)
			continue
		}
		r, n := utf8.DecodeRuneInString(gap[i:])
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(".!?。", r) {
			return false
		}
		i += n
	}
	return true
}

// leadsUp is true for what may stand between a code and the label behind it: signs, a bracket that opens, or a copula
// and the rest of the sentence.
func leadsUp(gap string) bool {
	if i := strings.IndexByte(gap, '('); i >= 0 && strings.TrimSpace(gap[:i]) == "" && !strings.ContainsAny(gap, ").!?。\n") {
		return true
	}
	signs := strings.IndexFunc(gap, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	if signs < 0 {
		return !strings.ContainsAny(gap, ".!?。")
	}
	if strings.ContainsAny(gap[:signs], ".!?。") {
		return false
	}
	w, ok := copulas.at(gap, signs)
	return ok && !strings.ContainsAny(gap[signs+len(w.text):], ".!?。\n")
}

// said is the first run behind a label, in its sentence, that a copula or a colon stands before: "code for order 1 is …".
func said(w *wording, label place) (run, bool) {
	end := label.to + len(sentence(w.folded[label.to:]))
	for i := nextRun(w.runs, label.to); i < len(w.runs) && w.runs[i].from < end; i++ {
		r, gap := w.runs[i], w.folded[label.to:w.runs[i].from]
		if near(gap) && !r.doubtful && !r.word && (label.kind == naming || !r.owned) && announced(gap) {
			return r, true
		}
	}
	return run{}, false
}

// announced is true for a text that ends in a copula or a colon.
func announced(gap string) bool {
	gap = strings.TrimRight(gap, ` "'([`)
	if strings.HasSuffix(gap, ":") || strings.HasSuffix(gap, "=") {
		return true
	}
	return copulas.endsIn(gap)
}

// inReach is the next run in reach, else the last one; letters only where nothing else is on their line. A word that may
// mean a code marks one so only where the text asks for it, or the run stands alone.
func inReach(w *wording, label place) (run, bool) {
	sure := w.asks || label.kind == naming
	next := nextRun(w.runs, label.to)
	for i := next; i < len(w.runs) && near(w.text[label.to:w.runs[i].from]); i++ {
		if r := w.runs[i]; r.plain() && !r.word && (sure && !r.letters || alone(w.text, r)) {
			return r, true
		}
	}
	for i := lastRun(w.runs, next, label.from); i >= 0 && near(w.text[w.runs[i].to:label.from]); i-- {
		if r := w.runs[i]; r.plain() && !r.letters && (sure || alone(w.text, r)) {
			return r, true
		}
	}
	return run{}, false
}

// wordBeside is the next run when it has only capital letters, ends its phrase, and not all of the text is written so.
func wordBeside(w *wording, label place) (run, bool) {
	i := nextRun(w.runs, label.to)
	if i == len(w.runs) || !w.runs[i].word || shouted(w.text[:label.from]+w.text[w.runs[i].to:]) {
		return run{}, false
	}
	gap := w.folded[label.to:w.runs[i].from]
	return w.runs[i], near(gap) && onlyFilling(gap) && wordEnd.MatchString(w.text[w.runs[i].to:])
}

var wordEnd = regexp.MustCompile(`^(?:[^\p{L}\p{N} ]|\s*$| ?(?:입니다|이에요|을|를|です))`)

// shouted is true for a text that has letters, and all of them capitals.
func shouted(text string) bool {
	return strings.ToUpper(text) == text && strings.ToLower(text) != text && !strings.ContainsFunc(text, isHangul)
}

func isHangul(r rune) bool { return unicode.Is(unicode.Hangul, r) }

// nextRun is the index of the first run at or behind a place in the text.
func nextRun(runs []run, place int) int {
	i, _ := slices.BinarySearchFunc(runs, place, func(r run, place int) int { return cmp.Compare(r.from, place) })
	return i
}

// lastRun is the index of the last run before i that ends at or before a place, -1 for none.
func lastRun(runs []run, i, place int) int {
	for i--; i >= 0 && runs[i].to > place; i-- { // within the label
	}
	return i
}

func near(gap string) bool {
	return len(gap) <= reach*utf8.UTFMax && utf8.RuneCountInString(gap) <= reach
}

var (
	openLine  = regexp.MustCompile(`(?:^|\n)[^\p{L}\p{N}\n]*$|[\[(<{"'「『【*]\s?$`)
	closeLine = regexp.MustCompile(`^(?:[^\p{L}\p{N}\n]*(?:$|\n)|\s?[\])>}"'」』】*])`)
)

// alone is true for a run that has its line, or a pair of brackets, for itself.
func alone(text string, r run) bool {
	return openLine.MatchString(before(text, r.from)) && closeLine.MatchString(after(text, r.to))
}
