package sms

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	plate   = regexp.MustCompile(`\d{2,3}[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주아바사자하허호배]$`)
	doorKey = regexp.MustCompile(`(?:택배함|보관함|사물함|무인함|현관|출입문|도어락|와이파이|wi-?fi|회의실|入室|玄関|세미나실|연습실|스터디룸` +
		`|사무실|창고|화장실|자물쇠|숙소|락커|라커|차단기|열쇠함|강당|체육관|주차장|옥상|대문|정문|후문|객실` +
		`|\d호|룸|meeting room|会议室|會議室|会議室|门锁|phòng họp|phong hop|ボックス|ロッカー|ドア|オートロック)[^.。\n]*$` +
		`|(?:\blocker (?:no\.? ?|#)?[a-z]?\d|보관(?:했|하였|되었|됐)|넣어 ?(?:두었|뒀))[^\n]*$`)
	keys = vocabularyOf(list{words: `비밀번호, 비번, 암호, password, pin, 暗証番号, 暗証番号は, パスワード, パスワードは, passcode, パスコード,
		パスコードは, 密码, 密碼, mật khẩu`})
	failure = regexp.MustCompile(`(?:오류|실패|거절|에러|장애|중단|결과` +
		`|\b(?:error|fail(?:ed|ure)|declined|rejected)\b|失敗|エラー|失败|錯誤|错误|lỗi|\bloi\b)[^.。\n]*$`)
	faultKeys = vocabularyOf(list{words: `코드, code, コード, 代码, 代碼, 码, 碼, mã`})
	phrase    = regexp.MustCompile(`(?:[☎☏]|비번[은는이]?[ :=]*|\bends (?:in|with)` +
		`|\blast (?:4|four)(?: digits)?|\b(?:reply|text|send|sms) (?:\w+ )?to|국번 없이|카드 ?\(|(?:^|[\s(/])[tf][.:])$`)
)

// ofAnother reports whether the folded text before a number marks it as another number than a code.
func ofAnother(before string) bool {
	before = strings.TrimRight(before, " ")
	if phrase.MatchString(before) || isPlate(before) {
		return true
	}
	before = untilWord(before)
	if namesAnother(before) || isDoorKey(before) || isFault(before) {
		return true
	}
	rest, ok := particles.cutEnd(before)
	rest = untilWord(rest)
	return ok && (namesAnother(rest) || isFault(rest))
}

// namesAnother reports whether a text ends in the name of another number.
func namesAnother(text string) bool {
	if isCompound(text) {
		return true
	}
	rest, ok := numberWords.cutEnd(text)
	return ok && topics.endsIn(strings.TrimRight(rest, " #.-("))
}

// isPlate reports whether a text is the first half of a car's number: "12가".
func isPlate(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	return isHangul(r) && isDigit(lastByte(text[:len(text)-n])) && plate.MatchString(text)
}

func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

func isDoorKey(text string) bool {
	rest, ok := keys.cutEnd(text)
	return ok && doorKey.MatchString(rest)
}

// isFault reports whether a text ends in the name of the number of an error: "failed (code".
func isFault(text string) bool {
	rest, ok := faultKeys.cutEnd(text)
	if !ok || !failure.MatchString(rest) {
		return false
	}
	w, ok := codeWords.last(text)
	return !ok || w.kind != naming
}

// isCompound reports whether a text ends in a compound word for another number. "고객번호" and "学籍番号" are such
// compounds; "인증번호" and "您的号码" can name a code.
func isCompound(text string) bool {
	rest, ok := tails.cutEnd(text)
	if !ok {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(rest)
	if isHangul(r) {
		return !ofCodes.endsIn(rest)
	}
	w, _ := codeWords.last(text)
	known := w.kind == naming || len(w.text) > len(text)-len(rest) // "パスコード"
	return unicode.In(r, unicode.Han, unicode.Katakana) && !strings.ContainsRune(loose, r) && !known
}

// besideAnother reports whether the word before a number is a thing with a number: "order 4829".
func besideAnother(before string) bool {
	before = untilWord(strings.TrimRight(before, " "))
	if otherNumbers.endsIn(before) {
		return true
	}
	rest, ok := particles.cutEnd(before)
	return ok && otherNumbers.endsIn(untilWord(rest))
}

// untilWord drops the signs at the end of a text. It drops at most three, up to the end of a line or of a
// sender in brackets.
func untilWord(text string) string {
	for range 3 {
		r, n := utf8.DecodeLastRuneInString(text)
		if r == ']' || r == '】' || r == '\n' || unicode.IsLetter(r) || unicode.IsNumber(r) ||
			unicode.Is(unicode.M, r) {
			break
		}
		text = text[:len(text)-n]
	}
	return text
}
