package sms

import (
	"regexp"
	"slices"
	"unicode/utf8"
)

// around is how many bytes beside a number tell what kind of number it is.
const around = 40

// What follows an amount, a quantity, a duration or a date.
var unitAfter = regexp.MustCompile(`(?i)^(?:%|％|℃|‰` +
	`|\s?[십백천만억조]*\s?원(?:$|[^\p{Hangul}]|[이을의은에씩짜대권])|만\s?(?:명|개|건|점)` +
	`|[년월일시분초개명건점회장매대배층동호주권박](?:$|[^\p{L}]|[간께까의에이을은는도만안전후내째씩차]|동안|부터|이내|이상|이하)` +
	`|학년도|년도|세대|인분|개월|시간|주년|번지|번\s?(?:출구|버스|게이트|좌석|창구)|님` +
	`|에\s?(?:주|팔|살|사|드|구매|판매|거래|가능)|\)?\s(?:서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충청?[북남]|전라?[북남]|경상?[북남]|제주)[특광시도 ]` +
	`|\s?(?:포인트|마일|캐시|코인|달러|엔|위안|적립|점\s?적립)` +
	`|\s?(?:元|円|分钟|分鐘|小时|秒|年|月|日)` +
	`|\s?(?:won|krw|usd|eur|jpy|cny|rmb|vnd|inr|dollars?|points?|pts|p|miles?|km|kg|g|ml|mb|gb|tb|mins?|minutes?|minuten|minutos|hours?|hrs?|sec|seconds?|days?|am|pm|people|times|items?|views?|off|phút|phut|menit|минут)\b)`)

// unit is true where what follows a number says of what it is one.
func unit(after string) bool {
	return unitAfter.MatchString(after[:min(len(after), around)])
}

// What stands before a number that is something else than a code.
var (
	moneyBefore = regexp.MustCompile(`(?i)(?:[₩$€¥£]|\b(?:rs|inr|krw|usd|jpy|rm|rp)\.?)\s?$`)
	hiddenPart  = regexp.MustCompile(`(?i)(?:[*•●#]{2}|x{2,})-?$`) // "****1234", "xx-1234"
	wordBefore  = regexp.MustCompile(`(?i)[a-z][-_.@+/=&?]$`)
	labelBefore = regexp.MustCompile(`(?i)(?:code|otp|pin|password|passcode)[-=]$`)
	wordAfter   = regexp.MustCompile(`(?i)^[-_@+&=/][a-z]`)
	hiddenAfter = regexp.MustCompile(`^-?(?:\*{2}|[•●]{2})`)
	approval    = regexp.MustCompile(`승인\s?(?:번호)?[^\p{L}\p{N}\]】]{0,3}$`)
	payment     = regexp.MustCompile(`일시불|할부|누적|승인\s?취소|결제\s?취소|잔액`)
	advert      = regexp.MustCompile(`(?i)[(\[<{【]\s?(?:광\s?[./]?\s?고|ad|廣告|广告)\s?[)\]>}】]|무료\s?(?:수신\s?)?거부|수신\s?거부|退订|退訂|拒收请回`)
)

// isAdvert is true for a text that says so, as the law wants it to.
func isAdvert(text string) bool { return advert.MatchString(text) }

// possible are the runs that no wording rules out.
func possible(text string, runs []run) []run {
	paid := payment.MatchString(text)
	return slices.DeleteFunc(runs, func(r run) bool {
		before, after := before(text, r.from), after(text, r.to)
		return paid && approval.MatchString(before) || moneyBefore.MatchString(before) || namesAnother(before) ||
			wordBefore.MatchString(before) && !labelBefore.MatchString(before) || wordAfter.MatchString(after) ||
			hiddenPart.MatchString(before) != hiddenAfter.MatchString(after)
	})
}

// before is what leads up to a place in a text, after what follows it; no more than tells what a number is.
func before(text string, place int) string {
	from := max(0, place-around)
	for from < place && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:place]
}

func after(text string, place int) string { return text[place:min(len(text), place+around)] }
