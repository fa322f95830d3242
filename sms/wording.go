package sms

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// around is how many bytes next to a number decide its kind.
const around = 48

// Text that follows an amount, a quantity, a duration or a date.
var unitAfter = regexp.MustCompile(`(?i)^(?:%|％|℃|‰` +
	`|\s?[십백천만억조]*\s?원(?:$|[^\p{Hangul}]|[이을의은에씩짜대권])|만\s?(?:명|개|건|점)` +
	`|[년월일시분초개명건점회장매대배층동호주권박강동강도톤칸](?:$|[^\p{L}]|[간께까의에이을은는도만야로안전후내째씩차로]|동안|부터|이내|이상|이하)` +
	`|학년도|년도|세대|인분|개월|시간|주년|번지|번\s?(?:출구|버스|게이트|좌석|창구|자리|서가)|님|호기|편\s|번(?:으로|에서)|(?:으로|로|와|과)\s?(?:끝나|시작)` +
	`|에\s?(?:주|팔|살|사|드|구매|판매|거래|가능)|\)?\s(?:서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충청?[북남]|전라?[북남]|경상?[북남]|제주)[특광시도 ]` +
	`|\s?(?:포인트|마일|캐시|코인|달러|엔|위안|적립|점\s?적립|계좌|카드|체크|승인|버스)` +
	`|\s?(?:元(?:$|[^旦])|円|分钟|分鐘|小时|秒|年|月|日|号室|号车|号機|号|度|件|积分|ポイント|番の|番で)` +
	`|\s?(?:won|krw|usd|eur|jpy|cny|rmb|vnd|inr|dollars?|points?|pts|p|miles?|km|kg|g|ml|mb|gb|tb|mins?` +
	`|minutes?|minuten|minutos|hours?|hrs?|sec|seconds?|days?|am|pm|people|times|items?|views?|off|kwh|mm` +
	`|phút|phut|menit|минут|р|руб|tl|บาท|đ|d|vnd|trieu|triệu|diem|điểm)(?:$|[^\p{L}\p{N}]))`)

// unitFirst has the first characters of units that are not alphabetic.
const unitFirst = `%％℃‰으로와과십백천만억조원년월일시분초개명건점회장매대배층동호주권박강도톤칸학세인번님편에서부광울경충전제포마캐코달엔위적계카체승버元円分小秒年月日号度件积ポ番บ`

// unit reports whether the text after a number is a unit.
func unit(after string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimPrefix(strings.TrimPrefix(after, ")"), " "))
	return (alphabetic(first) || strings.ContainsRune(unitFirst, first)) &&
		unitAfter.MatchString(after[:min(len(after), around)])
}

// Text before or behind a number that is no code, folded.
var (
	moneyBefore = regexp.MustCompile(`(?:[₩$€¥£]|\b(?:rs|inr|krw|usd|jpy|rm|rp|ksh|ngn|vnd|usd|gbp|aed)\.?)\s?$`)
	hiddenPart  = regexp.MustCompile(`(?:[*•●#]{2} ?|x{2,})-?$`) // "****1234", "xx-1234"
	wordBefore  = regexp.MustCompile(`[a-z][-_.@+/=&?]$`)
	labelBefore = regexp.MustCompile(`(?:code|otp|pin|tan|token|password|passcode)[-=]$`)
	wordAfter   = regexp.MustCompile(`^[-_@+&=/][a-z]`)
	hiddenAfter = regexp.MustCompile(`^-?(?:\*{2}|[•●]{2})`)
	score       = regexp.MustCompile(`^ [\dx]/\d(?:\D|$)`) // "Wordle 1027 4/6"
	approval    = regexp.MustCompile(`(?:승인\s?(?:번호)?[은는]?|거래번호|承認番号|授权码|授權碼` +
		`|\b(?:approval|authori[sz]ation|auth) code|m[ãa] giao d[ịi]ch` +
		`|c[oó]digo de autori\pL+|code d.autorisation)[^\p{L}\p{N}\]】]{0,3}$`)
	receipt = regexp.MustCompile(`일시불|할부|누적|승인\s?취소|결제\s?취소|잔액|발급 완료` +
		`|승인(?:\s*$|\s?[\d\n(]|\s(?:[^번코숫을키암]))`)
	settled = regexp.MustCompile(`취소|거절|환불|영수증|승인되었|승인됐|초과|실패|가맹점|매입|완료(?:되었|됐|됨|했|하였|입니다|\s*[(.\n]|\s*$)` +
		`|取り消|取消|返金|退款|reversed|refund|declined|cancel+ed|receipt|thank you` +
		`|anulad|storniert|annul|撤销|撤銷|thành công|thanh cong`)
	advert = regexp.MustCompile(`[(\[<{【]\s?(?:광\s?[./]?\s?고|ad|廣告|广告|qc)\s?[)\]>}】]|무료\s?(?:수신\s?)?거부` +
		`|수신\s?거부\s?[\d:]|退订|退訂|拒收`)
)

// isAdvert reports whether a text is marked as an advertisement, as the law requires, or makes an offer.
func isAdvert(folded string) bool {
	if len(offers.in(folded)) > 0 {
		return true
	}
	marked := strings.ContainsAny(folded, "광廣广거退拒") || strings.Contains(folded, "ad") ||
		strings.Contains(folded, "qc")
	return marked && advert.MatchString(folded)
}

// possible returns the runs that no wording rules out. It marks those next to a thing with a number as owned.
// The number of an approval is a receipt's, unless the text asks to enter it.
func possible(folded string, runs []run, entered bool) []run {
	approved := containsAny(folded, "승인", "거래번호", "承認", "授", "code", "giao d", "digo de")
	paid := approved && (strings.Contains(folded, "승인") && receipt.MatchString(folded) ||
		!entered && settled.MatchString(folded))
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run) bool {
		before, after := before(folded, r.from), after(folded, r.to)
		return approved && (paid || !entered && len(r.code) >= localNumber) && approval.MatchString(before) ||
			moneyBefore.MatchString(before) || ofAnother(before) ||
			wordBefore.MatchString(before) && !labelBefore.MatchString(before) || wordAfter.MatchString(after) ||
			hidden(before, after) || isOver(after)
	})
	for i, r := range runs {
		runs[i].owned = besideAnother(before(folded, r.from)) || score.MatchString(after(folded, r.to)) ||
			len(r.code) == localNumber && !r.letters
	}
	return runs
}

// optOut matches the words with which an advertisement says how to refuse further ones. The numbers behind
// them are for that call.
var optOut = regexp.MustCompile(`(?:수신|문자|광고)[^.\d\n]{0,8}(?:거부|원치|원하지|거절)` +
	`|수신[^.\d\n]{0,6}(?:중단|해지|철회)|무료\s?거부|거부\s?(?:번호|인증|[:：☎0])` +
	`|\b080[-). ]{0,2}\d{3,4}[-. ]?\d{3,4}[^\p{L}\p{N}\n)\]]{0,4}(?:\(?인증|고유|식별|거부)` +
	`|配信停止|配信解除|退订|退訂|拒收|t[ừu] ch[ốo]i qc|\b(?:opt[- ]?out|unsubscribe|(?:reply|text|send|txt) stop` +
	`|to stop (?:texts|sms|messages)|stop (?:au|to|sms))\b`)

// optOutFrom returns where such words begin in a folded text, or its length.
func optOutFrom(folded string) int {
	if containsAny(folded, "수신", "거부", "문자", "광고", "080", "停止", "解除", "退", "拒收", "qc", "stop", "opt", "unsub") {
		if site := optOut.FindStringIndex(folded); site != nil {
			return site[0]
		}
	}
	return len(folded)
}

// containsAny is a quick look at a text before a regular expression's slow one.
func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// hidden reports whether a number is next to the stars of a partly hidden one: "****1234", "1234****",
// "*250284". Stars on both sides hide nothing.
func hidden(before, after string) bool {
	if hiddenPart.MatchString(before) != hiddenAfter.MatchString(after) {
		return true
	}
	return strings.HasSuffix(before, "*") && !strings.HasPrefix(after, "*")
}

// before returns the text that leads up to a position, at most as long as a number's kind depends on.
func before(text string, place int) string {
	from := max(0, place-around)
	for from < place && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:place]
}

func after(text string, place int) string { return text[place:min(len(text), place+around)] }
