package sms

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	compound = regexp.MustCompile(`(\p{Hangul}+)(?:번호|코드)$`)
	// A Chinese or Japanese word that ends so names a number; what is not written together with another word names none.
	joint   = regexp.MustCompile(`[\p{Han}\p{Katakana}ー](?:码|碼|号|號|番号|コード|编号|密码|密碼|代码|代碼|キー|パスワード)$`)
	loose   = regexp.MustCompile(`(?:[的此该入用填写供是为本将把の]|请|你|您)(?:码|碼|号码|号|编号|密码|密碼|代码|代碼|番号|コード|パスワード)$`)
	plate   = regexp.MustCompile(`\d{2,3}[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주아바사자하허호배] ?$`)
	doorKey = regexp.MustCompile(`(?:택배함|보관함|사물함|무인함|현관|출입문|도어락|와이파이|wi-?fi|ボックス|ロッカー|ドア|オートロック)[^.。\n]*(?:비밀번호|비번|암호|password|暗証番号は?|パスワードは?)[^\p{L}\p{N}]*$`)
	phrase  = regexp.MustCompile(`(?:\bends (?:in|with)|\blast (?:4|four)(?: digits)?|\b(?:reply|text|send|sms) (?:\w+ )?to|국번 없이|카드 ?\(|(?:^|[\s(/])[tf][.:])$`)
)

// ofAnother is true where what stands before a number, folded, says that it is the number of something else.
func ofAnother(before string) bool {
	before = strings.TrimRight(before, " ")
	if phrase.MatchString(before) || doorKey.MatchString(before) || plate.MatchString(before) {
		return true
	}
	before = untilWord(before)
	if namesAnother(before) {
		return true
	}
	rest, ok := particles.cutEnd(before)
	return ok && namesAnother(untilWord(rest))
}

// namesAnother is true for a text that ends in the name of another number.
func namesAnother(text string) bool {
	if isCompound(text) {
		return true
	}
	rest, ok := numberWords.cutEnd(text)
	return ok && topics.endsIn(strings.TrimRight(rest, " #.-"))
}

// isCompound is true for a text that ends in a word that is written together with one for a number, and no name of a code.
func isCompound(text string) bool {
	if m := compound.FindStringSubmatch(text); m != nil {
		return !ofCodes.endsIn(m[1])
	}
	if !joint.MatchString(text) || loose.MatchString(text) {
		return false
	}
	w, _ := codeWords.last(text)
	return w.kind != naming
}

// besideAnother is true where the word before a number is that of something that has numbers: "order 4829".
func besideAnother(before string) bool {
	before = untilWord(strings.TrimRight(before, " "))
	if otherNumbers.endsIn(before) {
		return true
	}
	rest, ok := particles.cutEnd(before)
	return ok && otherNumbers.endsIn(untilWord(rest))
}

// untilWord drops the signs that a text ends in, at most three, up to the end of a line or of a sender in brackets.
func untilWord(text string) string {
	for range 3 {
		r, n := utf8.DecodeLastRuneInString(text)
		if r == ']' || r == '】' || r == '\n' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r) {
			break
		}
		text = text[:len(text)-n]
	}
	return text
}
