package sms

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRuns bounds how many runs, and how many labels, are examined.
const maxRuns = 100

// run is a possible code: text[from:to], read as code.
type run struct {
	from, to int
	code     string
	letters  bool // with capital letters: a code only if the wording marks it
	word     bool // with capital letters alone
	doubtful bool // written like a year, a date or a telephone number: a code only next to its label
	owned    bool // next to a thing with a number: likewise
}

// plain reports whether nothing speaks against a run.
func (r run) plain() bool { return !r.doubtful && !r.owned }

// piece is a run of ASCII letters and digits: text[from:to].
type piece struct {
	from, to                int
	digits, capitals, small int
	fixed                   bool // part of an address, a number, a date or a unit: no code, and no part of one
}

func (p piece) size() int { return p.to - p.from }

// serviceHead matches the start of Korean nationwide service numbers.
const serviceHead = `1(?:5(?:22|33|44|66|77|88|99)|6(?:00|22|44|61|66|68|70|88)|8(?:00|11|33|55|77|99))`

// Runs of digits that cannot be a code by their form: addresses, telephone numbers and dates.
var (
	address = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s()<>\[\]"'\x{80}-\x{10FFFF}]+` +
		`|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/[^\s()<>\[\]"'\x{80}-\x{10FFFF}]*` +
		`|\b[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z.]+`)
	solid = regexp.MustCompile(`\+\d{8,14}\b|\+\d{1,3}[-. ]?\(?\d{1,3}\)?[-. ]?\d{3,4}[-. ]?\d{4}\b` +
		`|\(?\b\d{3}\)?[-. ]{1,2}\d{3}-\d{4}\b` +
		`|\(?\b0\d{1,3}\)?[-. )]{1,2}\d{3,4}[-. ]\d{3,4}\b|\(?\b0\d{2,3}\)?[-. )]{1,2}\d{6,8}\b` +
		`|\b[08][- (]{1,2}\d{3}\)?[- ]\d{3}[- ]\d{2,3}(?:[- ]\d\d)?\b` +
		`|\b1[3-9]00[- ]\d{3}[- ]\d{3,4}\b|\b01\d{5,6}[-. ]\d{4}\b|\b01\d[-. ]\d{7,8}\b|\b` +
		serviceHead + `[-. ]\d{4}\b` +
		`|\b1[89]00[-. ]\d{4,6}\b|\b(?:19|20)\d\d[-./] ?\d{1,2}[-./] ?\d{1,2}\b|\b\d{1,2}[-./]\d{1,2}[-./](?:19` +
		`|20)\d\d\b|\b\d\d\.\d{1,2}\.\d{1,2}\b`)
	// separated matches every text that solid matches, at a tenth of the cost.
	separated = regexp.MustCompile(`\+|\d[-./) ]{1,2}\d`)
)

// fixedPlaces returns where addresses, telephone numbers and dates are in a text, in order.
func fixedPlaces(text string) [][]int {
	var places [][]int
	if strings.Contains(text, ".") && strings.ContainsAny(text, "@/Ww") {
		places = address.FindAllStringIndex(text, -1)
	}
	if separated.MatchString(text) {
		places = append(places, solid.FindAllStringIndex(text, -1)...)
	}
	slices.SortFunc(places, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return places
}

// runsOf returns the first possible codes of a text, at most maxRuns.
func runsOf(text string) []run {
	pieces := piecesOf(text)
	var runs []run
	for i := 0; i < len(pieces) && len(runs) < maxRuns; {
		n := 1
		for i+n < len(pieces) && joined(text, pieces[i+n-1], pieces[i+n]) {
			n++
		}
		if n == 1 {
			for i+n < len(pieces) && spaced(text, pieces[i+n-1], pieces[i+n]) &&
				(i+n+1 == len(pieces) || !joined(text, pieces[i+n], pieces[i+n+1])) {
				n++
			}
		}
		if r, ok := runOf(text, pieces[i:i+n]); ok {
			runs = append(runs, r)
		}
		i += n
	}
	return runs
}

func piecesOf(text string) []piece {
	places := fixedPlaces(text)
	var pieces []piece
	for i := 0; i < len(text); {
		p := piece{from: i, to: i}
		for p.to < len(text) && p.count(text[p.to]) {
			p.to++
		}
		if p.size() == 0 {
			i++
			continue
		}
		i = p.to
		for len(places) > 0 && places[0][1] <= p.from {
			places = places[1:]
		}
		p.fixed = len(places) > 0 && places[0][0] < p.to || foreign(text, p) || crossed(text[p.from:p.to]) ||
			numeral(text, p) || p.digits > 0 && unit(text[p.to:])
		pieces = append(pieces, p)
	}
	return pieces
}

func (p *piece) count(c byte) bool {
	switch {
	case c >= '0' && c <= '9':
		p.digits++
	case c >= 'A' && c <= 'Z':
		p.capitals++
	case c >= 'a' && c <= 'z':
		p.small++
	default:
		return false
	}
	return true
}

// foreign reports whether a piece is part of a word with other Latin letters, or marks.
func foreign(text string, p piece) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:p.from])
	after, _ := utf8.DecodeRuneInString(text[p.to:])
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) || unicode.Is(unicode.M, r) }
	return latin(before) || latin(after)
}

// crossed reports whether a piece is a partly hidden number: "XX1234".
func crossed(piece string) bool {
	digits := strings.TrimLeft(piece, "Xx")
	return len(piece)-len(digits) > 1 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// numeral reports whether a piece is part of a number or a time: "1,234", "3.14", "14:02", "11/21", "9~18".
func numeral(text string, p piece) bool {
	before, after := digitsBefore(text, p.from-1), digitsAfter(text, p.to+1)
	return before > 0 && partOf(text[p.from-1], before, p.size()) || after > 0 &&
		partOf(text[p.to], p.size(), after)
}

// partOf reports whether two runs of digits with a sign between them are one number. A point always joins
// them; a comma, at most three digits and three more; a colon, two of at most two digits; a stroke or a wave,
// two whose lengths differ by at most two ("730214/3분" has a code and a time).
func partOf(sign byte, left, right int) bool {
	switch sign {
	case '.':
		return true
	case ',':
		return left <= 3 && right == 3
	case '/', '~':
		return left-right < 3 && right-left < 3
	case ':':
		return left <= 2 && right <= 2
	}
	return false
}

// digitsBefore returns how many digits end at a position of the text, digitsAfter how many begin there.
func digitsBefore(text string, place int) (n int) {
	for place-n > 0 && isDigit(text[place-n-1]) {
		n++
	}
	return n
}

func digitsAfter(text string, place int) (n int) {
	for place+n < len(text) && isDigit(text[place+n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// joined reports whether two pieces are one run: "123-456".
func joined(text string, a, b piece) bool {
	switch text[a.to:b.from] {
	case "-", "_", "·":
		if label := strings.ToLower(text[a.from:a.to]) + "-"; a.digits == 0 && labelBefore.MatchString(label) {
			return false // "OTP-123456"
		}
		return a.small == 0 && b.small == 0 && !a.fixed && !b.fixed
	case " - ", " · ":
		return a.digits == a.size() && b.digits == a.size() && b.size() == a.digits && !a.fixed && !b.fixed
	}
	return false
}

// spaced reports whether two pieces with only a blank between them are one run. They are of one kind and of
// equal length: "123 456", "1 2 3 4", "A 7 K 2", "A7K 2QD". A year is never joined.
func spaced(text string, a, b piece) bool {
	if text[a.to:b.from] != " " || a.fixed || b.fixed || a.small+b.small > 0 || a.size() != b.size() ||
		a.size() > 4 {
		return false
	}
	if a.capitals+b.capitals == 0 {
		return !year.MatchString(text[a.from:a.to]) && !year.MatchString(text[b.from:b.to])
	}
	return a.size() == 1 || a.digits > 0 && a.capitals > 0 && b.digits > 0 && b.capitals > 0
}

// Kinds of number that are recognized by their form alone.
var (
	year    = regexp.MustCompile(`^(?:19|20)\d\d$`)
	day     = regexp.MustCompile(`^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$`)
	service = regexp.MustCompile(`^` + serviceHead + `\d{4}$`)
	date    = regexp.MustCompile(`^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$`)
)

// runOf reads pieces as one run; ok is false if they are no code.
func runOf(text string, pieces []piece) (r run, ok bool) {
	r = run{from: pieces[0].from, to: pieces[len(pieces)-1].to}
	if p := pieces[0]; len(pieces) == 2 && p.digits == 0 && pieces[1].capitals == 0 && text[p.to] == '-' &&
		pieces[1].size() >= minCode && (p.size() < minCode || p.size()+pieces[1].size() > maxCode) { // "G-123456"
		pieces = pieces[1:]
		r.doubtful = p.size() > 1
	}
	even, all := true, piece{}
	for _, p := range pieces {
		if p.fixed || len(r.code) > maxCode {
			return run{}, false
		}
		r.code += text[p.from:p.to]
		even = even && p.size() == pieces[0].size()
		all.digits, all.capitals, all.small = all.digits+p.digits, all.capitals+p.capitals, all.small+p.small
	}
	if len(r.code) < minCode || len(r.code) > maxCode || all.small > 0 {
		return run{}, false
	}
	r.letters, r.word = all.capitals > 0, all.digits == 0
	if len(pieces) == 1 {
		r.doubtful = r.doubtful || year.MatchString(r.code) || day.MatchString(r.code) ||
			service.MatchString(r.code)
		return r, true
	}
	size := pieces[0].size()
	broken := strings.HasPrefix(text[r.to:], "-") // the start of a longer number
	r.doubtful = broken || !even || size == 2 && (len(pieces) == 2 || date.MatchString(r.code)) || size == 4
	return r, true
}

// localNumber is how many digits a telephone number without its area has. Hardly any code is as long.
const localNumber = 7
