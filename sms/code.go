package sms

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A code has this many digits. A longer run of digits is not a code, and no part of it is.
const (
	minCode = 4
	maxCode = 8
)

// reach is how far, in characters, a word that announces a code may stand from it.
const reach = 60

// around is how many bytes beside a number tell what kind of number it is.
const around = 80

// The words that announce a code. The strong ones name it; the weak ones count where no strong one does.
var (
	strongLabel = regexp.MustCompile(`(?i)` +
		`(?:인증|확인|보안|승인|일회용|1회용|본인\s?확인|본인\s?인증)\s?(?:번호|코드|암호|비밀번호|숫자|키)` +
		`|\bOTP\b(?:\s?(?:번호|코드))?` +
		`|\b(?:verification|security|authentication|auth|confirmation|authori[sz]ation|login|log-in|sign-in|access|2fa|one[- ]time)\s+(?:code|number|pin|passcode|password)\b` +
		`|\bpasscode\b|验证码|驗證碼|校验码|認証コード|認証番号|確認コード` +
		`|@[a-z0-9-]+(?:\.[a-z0-9-]+)+ #`) // the last line that binds a code to a site
	weakLabel = regexp.MustCompile(`(?i)본인\s?확인|본인\s?인증|인증|코드|암호|비밀번호|번호|\b(?:code|pin|password)\b`)
)

// What may stand between a label and a code for the two to belong together beyond doubt.
var (
	tightAfter = regexp.MustCompile(`(?i)^(?:[^\p{L}\p{N}.!?。]|입니다|이에요|은|는|을|를|이|가|로|으로|안내|입력|\b(?:is|are|no|number|code)\b)*$`)
	tightNext  = regexp.MustCompile(`(?i)^[^\p{L}\p{N}.!?。]*(?:$|(?:\b(?:is|as)\b|은|는|이|가|을|를)[^.!?。\n]*$)`)
)

// What makes a run of digits something else than a code.
var (
	joinedBefore = regexp.MustCompile(`\d[-.,/:]$|[A-Za-z]$|[₩￦$€¥]\s?$`)
	joinedAfter  = regexp.MustCompile(`(?i)^(?:[-.,/:]\d|[a-z]|\s?[십백천만억]*\s?원(?:$|[^\p{Hangul}]|[이을의은에])|\s?(?:won|krw|usd|달러)\b|[년명건개점회%])`)
	otherLabel   = regexp.MustCompile(`(?i)(?:주문|접수|예약|운송장|송장|계좌|전화|휴대폰|사업자|등록|고객|회원|카드|상품|거래|문의|상담|고객센터|대표|\b(?:order|ref|tel|phone|call|card|account|invoice)\b)\s?(?:번호|id|no|number)?[^\p{L}\p{N}]{0,3}$`)
	address      = regexp.MustCompile(`(?i)(?:://|www\.|[a-z]\.[a-z]{2,}/)\S*$`)
)

// maxRuns is how many numbers are looked at.
const maxRuns = 100

// run is a run of 4 to 8 digits: text[from:to].
type run struct{ from, to int }

// FindCode finds the code in a text: the first run of 4 to 8 digits that the wording marks as one, else the
// first such run; ok is false where there is none. Full-width digits count and are given as plain ones.
func FindCode(text string) (code Secret, ok bool) {
	text = plainDigits(text)
	runs := digitRuns(text)
	if len(runs) == 0 {
		return Secret{}, false
	}
	found := runs[0]
	strong := strongLabel.FindAllStringIndex(text, -1)
	likely := make([]run, 0, len(runs))
	for _, r := range runs {
		if !somethingElse(text, r, strong) {
			likely = append(likely, r)
		}
	}
	if r, ok := firstMarked(text, likely, strong); ok {
		found = r
	} else if r, ok := firstMarked(text, likely, weakLabel.FindAllStringIndex(text, -1)); ok {
		found = r
	}
	return NewSecret(text[found.from:found.to]), true
}

// firstMarked is the foremost run that any of the labels marks.
func firstMarked(text string, runs []run, labels [][]int) (run, bool) {
	first, ok := run{}, false
	for _, label := range labels {
		if r, marked := markedBy(text, runs, label[0], label[1]); marked && (!ok || r.from < first.from) {
			first, ok = r, true
		}
	}
	return first, ok
}

// markedBy is the run that the label at text[from:to] means: the next one when only a particle or a bracket is
// between them; the last one when it leads up to the label ("123456 is your …"); else the nearer in reach, forward
// first.
func markedBy(text string, runs []run, from, to int) (run, bool) {
	i, _ := slices.BinarySearchFunc(runs, to, func(r run, to int) int { return cmp.Compare(r.from, to) })
	var last, next *run
	if i < len(runs) {
		next = &runs[i]
	}
	for i > 0 && runs[i-1].to > from { // within the label
		i--
	}
	if i > 0 {
		last = &runs[i-1]
	}
	after, before := "", ""
	if next != nil {
		after = text[to:next.from]
	}
	if last != nil {
		before = text[last.to:from]
	}
	switch {
	case next != nil && near(after) && tightAfter.MatchString(after):
		return *next, true
	case last != nil && near(before) && tightNext.MatchString(before):
		return *last, true
	case next != nil && near(after):
		return *next, true
	case last != nil && near(before):
		return *last, true
	}
	return run{}, false
}

func near(gap string) bool {
	return len(gap) <= reach*utf8.UTFMax && utf8.RuneCountInString(gap) <= reach
}

// somethingElse is true for a part of a telephone number, a date, a time, an amount, an address or a word, and for
// a number that another label names.
func somethingElse(text string, r run, labels [][]int) bool {
	before, after := text[max(0, r.from-around):r.from], text[r.to:min(len(text), r.to+around)]
	if joinedAfter.MatchString(after) {
		return true
	}
	_, labelled := slices.BinarySearchFunc(labels, r.from, func(label []int, at int) int { return cmp.Compare(label[1], at) })
	return !labelled && (joinedBefore.MatchString(before) || otherLabel.MatchString(before) || address.MatchString(before))
}

// digitRuns are the first runs of 4 to 8 digits that no digit stands beside, at most maxRuns.
func digitRuns(text string) []run {
	var runs []run
	for i := 0; i < len(text) && len(runs) < maxRuns; i++ {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		if n := i - from; n >= minCode && n <= maxCode {
			runs = append(runs, run{from, i})
		}
	}
	return runs
}

// plainDigits writes full-width digits as plain ones.
func plainDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '０' && r <= '９' {
			return r - '０' + '0'
		}
		return r
	}, text)
}
