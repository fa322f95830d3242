package sms

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reach is the largest distance, in characters, between a code and the word that announces it.
const reach = 60

// labelsOf returns the words of a folded text that announce a code, and the runs without those that they call
// old. Words for another number, or an old code, are not among the labels.
func labelsOf(folded string, runs []run) ([]place, []run) {
	var old []int
	words := codeWords.in(folded)
	renewed := slices.ContainsFunc(words, func(l place) bool { return newBefore.endsIn(lead(folded, l.from)) })
	labels := slices.DeleteFunc(words, func(l place) bool {
		switch l.kind {
		case naming, calling, heading, numbering:
			head := lead(folded, l.from)
			if spentBefore.endsIn(head) || renewed && oldBefore.endsIn(head) {
				if i := nextRun(runs, l.to); i < len(runs) && onlyFilling(folded[l.to:runs[i].from]) {
					old = append(old, runs[i].from)
				}
				return true
			}
			return ofAnother(before(folded, l.to)) || isSpent(folded, runs, l)
		case other:
			return true
		}
		return false
	})
	for _, site := range boundTo.FindAllStringIndex(folded, maxRuns) {
		labels = append(labels, place{site[0], site[1], naming})
	}
	isOld := func(r run) bool { return slices.Contains(old, r.from) }
	return labels, slices.DeleteFunc(slices.Clone(runs), isOld)
}

// boundTo matches the start of the last line that binds a code to a site.
var boundTo = regexp.MustCompile(`@[a-z0-9-]+(?:\.[a-z0-9-]+)+ #`)

// isSpent reports whether the words around a label mark the code as expired or not wanted: the rest of
// its sentence up to the next run, or the first words behind that run.
func isSpent(folded string, runs []run, l place) bool {
	rest := sentence(after(folded, l.to))
	if i := nextRun(runs, l.to); i < len(runs) {
		rest = rest[:min(len(rest), runs[i].from-l.to)]
		if isOver(after(folded, runs[i].to)) {
			return true
		}
	}
	return len(spent.in(rest)) > 0
}

// isOver reports whether the text behind a run says at once that it is no code any more. "If it is expired"
// does not.
func isOver(behind string) bool {
	behind = sentence(behind)
	for i, n := 0, 0; i < len(behind); i += n {
		if w, ok := spentBehind.at(behind, i); ok {
			return !condition.MatchString(behind[i+len(w.text):])
		}
		if n = filling(behind, i); n == 0 {
			return false
		}
	}
	return false
}

// condition matches the rest of a clause that says what would be.
var condition = regexp.MustCompile(`^(?: ?[가-힣]{0,4}(?:면|경우|때|전에|예정)| ?[가-힣]{0,3} ?시(?:[ ,에]|$)` +
	`| ?(?:时间|時間|后|後|前|まで|時|の場合|の際|になる|になり$|となる)| (?:[a-z]+ )?(?:after|if|once|when|in \d))`)

// lead returns the text that leads up to a label, without blanks and brackets at its end.
func lead(folded string, place int) string { return strings.TrimRight(before(folded, place), " ([") }

// sentence returns a text up to the end of its first sentence or line.
func sentence(text string) string {
	for i, r := range text {
		if r == '\n' || r == '。' || strings.ContainsRune(".!?", r) &&
			(i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i]
		}
	}
	return text
}

// marker returns the possible code (run) that a label means, if any.
type marker func(w *wording, label place) (run, bool)

// beside returns the possible code right behind the label, if only a filling word or a bracket separates the
// two. Otherwise it returns the last one before the label, if that leads up to it ("123456 is your …").
func beside(w *wording, label place) (run, bool) {
	next := nextRun(w.runs, label.to)
	if r, ok := follower(w, label, next); ok {
		return r, !r.letters || label.kind <= calling // "nhập mã TET2027" is an offer
	}
	return leader(w, label, lastRun(w.runs, next, label.from))
}

// follower returns the possible code at an index of w.runs if the label asks for it. Only filling words, such
// as particles, may separate them.
func follower(w *wording, label place, i int) (run, bool) {
	if label.kind == entering || label.kind == closing || i == len(w.runs) || w.runs[i].word {
		return run{}, false
	}
	gap := w.folded[label.to:w.runs[i].from]
	return w.runs[i], near(gap) && onlyFilling(gap)
}

// leader returns the run at an index if it leads up to the label. "[11ST] 인증번호 …" is a sender.
func leader(w *wording, label place, i int) (run, bool) {
	if label.kind == asking || i < 0 || w.runs[i].word {
		return run{}, false
	}
	r, gap := w.runs[i], w.folded[w.runs[i].to:label.from]
	if !near(gap) || !leadsUp(gap) {
		return run{}, false
	}
	return r, r.plain() && !r.letters || strings.ContainsFunc(gap,
		func(c rune) bool { return unicode.IsLetter(c) || c == '(' })
}

// onlyFilling reports whether a gap within a sentence has only signs and filling words.
func onlyFilling(gap string) bool {
	for i, n := 0, 0; i < len(gap); i += n {
		if n = filling(gap, i); n == 0 {
			return false
		}
	}
	return true
}

// filling returns the length of the sign or filling word at a position, 0 for any other text.
func filling(gap string, i int) int {
	if w, ok := copulas.at(gap, i); ok {
		return len(w.text)
	}
	if w, ok := fillers.at(gap, i); ok {
		return len(w.text)
	}
	r, n := utf8.DecodeRuneInString(gap[i:])
	if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(".!?。", r) {
		return 0
	}
	return n
}

// leadsUp reports whether a gap can separate a code from a label behind it: signs, an opening bracket, or a
// copula and the rest of the sentence.
func leadsUp(gap string) bool {
	if i := strings.IndexByte(gap, '('); i >= 0 && strings.TrimSpace(gap[:i]) == "" &&
		!strings.ContainsAny(gap, ").!?。\n") {
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

// afterCopula returns the first run behind a label, in its sentence, that follows a copula or a colon: "code
// for order 1 is …".
func afterCopula(w *wording, label place) (run, bool) {
	end := label.to + len(sentence(w.folded[label.to:]))
	for i := nextRun(w.runs, label.to); i < len(w.runs) && w.runs[i].from < end; i++ {
		r, gap := w.runs[i], w.folded[label.to:w.runs[i].from]
		if near(gap) && !r.doubtful && !r.word && (label.kind == naming || !r.owned) && announced(gap) {
			return r, true
		}
	}
	return run{}, false
}

// announced reports whether a text ends in a copula or a colon.
func announced(gap string) bool {
	gap = strings.TrimRight(gap, ` "'([`)
	if strings.HasSuffix(gap, ":") || strings.HasSuffix(gap, "=") {
		return true
	}
	return copulas.endsIn(gap)
}

// inReach returns the next run in reach, or else the last one. Runs with letters need a line without other
// words. A word that may mean a code marks one only if the text asks for it, or the run has its own line.
func inReach(w *wording, label place) (run, bool) {
	sure := w.asks || label.kind == naming
	next := nextRun(w.runs, label.to)
	for i := next; i < len(w.runs) && near(w.text[label.to:w.runs[i].from]); i++ {
		if r := w.runs[i]; r.plain() && !r.word && (sure && !r.letters || ownLine(w.text, r)) {
			return r, true
		}
	}
	for i := lastRun(w.runs, next, label.from); i >= 0 && near(w.text[w.runs[i].to:label.from]); i-- {
		if r := w.runs[i]; r.plain() && !r.letters && (sure || ownLine(w.text, r)) {
			return r, true
		}
	}
	return run{}, false
}

// wordBeside returns the next run if it has only capital letters and ends its phrase. A text all in capitals
// has no such run.
func wordBeside(w *wording, label place) (run, bool) {
	i := nextRun(w.runs, label.to)
	if i == len(w.runs) || !w.runs[i].word || shouted(w.text[:label.from]+w.text[w.runs[i].to:]) {
		return run{}, false
	}
	gap := w.folded[label.to:w.runs[i].from]
	return w.runs[i], near(gap) && onlyFilling(gap) && wordEnd.MatchString(w.text[w.runs[i].to:])
}

var wordEnd = regexp.MustCompile(`^(?:[^\p{L}\p{N} ]|\s*$| ?(?:입니다|이에요|을|를|です))`)

// shouted reports whether a text has letters, and only capitals.
func shouted(text string) bool {
	return strings.ToUpper(text) == text && strings.ToLower(text) != text &&
		!strings.ContainsFunc(text, isHangul)
}

func isHangul(r rune) bool { return unicode.Is(unicode.Hangul, r) }

// nextRun returns the index of the first run at or behind a position in the text.
func nextRun(runs []run, place int) int {
	i, _ := slices.BinarySearchFunc(runs, place,
		func(r run, place int) int { return cmp.Compare(r.from, place) })
	return i
}

// lastRun returns the index of the last run before i that ends at or before a position; -1 = none.
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

// ownLine reports whether a run has its line, or a pair of brackets, for itself.
func ownLine(text string, r run) bool {
	return openLine.MatchString(before(text, r.from)) && closeLine.MatchString(after(text, r.to))
}
