package sms

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What has a number that is no code: with a word for it ("주문번호", "order no."), and so well known that it needs none.
var (
	numbered = strings.Fields(`주문 접수 예약 운송장 송장 등기 계좌 전화 휴대폰 핸드폰 사업자 등록 고객 회원 카드 상품 거래 문의 상담 대표 우편 차량
		좌석 대기 순번 사건 민원 관리 제품 모델 시리얼 일련 쿠폰 할인 프로모션 추천 추천인 초대 이벤트 발신 수신 회신 내선 결제 신고 조회 교환 배송
		현관 출입 출입문 와이파이 사물함 보관함 택배함 직원 지점 점포 납부
		order ref reference tracking parcel shipment invoice booking reservation case ticket flight zip gate seat room coupon promo promotion discount
		voucher gift referral invite purchase model version serial pnr account acct card customer member user employee policy transaction txn receipt vehicle
		订单 訂單 运单 運單 快递 取件 注文 受付`)
	numberWords = strings.Fields(`번호 코드 비밀번호 비번 암호 number code id nr no 号 號 号码 號碼 番号 コード`)
	unnumbered  = strings.Fields(`주문 접수 예약 운송장 송장 우편 쿠폰 차량 좌석 대기 계좌 현관 학번 사번 문의 전화 상담 고객센터 콜센터 대표 연락처 팩스 내선
		거부 국번없이 금액 잔액 합계 총액 총 한도 누적 적립 가격 수수료 연도 버전
		konto kontonummer tel call dial fax order ref tracking invoice booking case ticket flight acct a/c ending extension ext version
		订单 訂單 单号 尾号 尾號 注文 電話 客服`)
	particles = strings.Fields(`번 은 는 이 is in with`)
	// A word that is written together with 번호 names another number, unless it ends in one of these.
	compound = regexp.MustCompile(`(\p{Hangul}+)번호$`)
	ofCodes  = strings.Fields(`인증 확인 보안 승인 검증 일회용 회용 인증용 확인용 로그인 접속 비밀 임시 간편 개인 패스 자리 숫자 문자 이 아래 다음 해당 위 새 핀`)
	plate    = regexp.MustCompile(`\d{2,3}[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주아바사자하허호배] ?$`)
	doorKey  = regexp.MustCompile(`(?:택배함|보관함|사물함|현관|출입문|도어락|와이파이|wi-?fi)[^.\n]*(?:비밀번호|비번|암호|password)[^\p{L}\p{N}]*$`)
	phrase   = regexp.MustCompile(`(?:\bends (?:in|with)|\blast (?:4|four)(?: digits)?|\b(?:reply|text|send|sms) (?:\w+ )?to|국번 없이|카드 ?\(|(?:^|[\s(/])[tf][.:])$`)
)

// namesAnother is true where what stands before a number says that it is the number of something else.
func namesAnother(before string) bool {
	before = strings.ToLower(strings.TrimRight(before, " "))
	if phrase.MatchString(before) || doorKey.MatchString(before) || plate.MatchString(before) {
		return true
	}
	for range 3 {
		r, n := utf8.DecodeLastRuneInString(before)
		if r == ']' || r == '】' || r == '\n' || unicode.IsLetter(r) || unicode.IsNumber(r) {
			break
		}
		before = before[:len(before)-n]
	}
	if endsIn(before, unnumbered) != "" {
		return true
	}
	for _, topic := range []string{endsIn(before, particles), ""} {
		rest := strings.TrimRight(strings.TrimSuffix(before, topic), " ")
		if topic != "" && endsIn(rest, unnumbered) != "" {
			return true
		}
		if m := compound.FindStringSubmatch(rest); m != nil && endsIn(m[1], ofCodes) == "" {
			return true
		}
		if word := endsIn(rest, numberWords); word != "" && endsIn(strings.TrimRight(strings.TrimSuffix(rest, word), " #."), numbered) != "" {
			return true
		}
	}
	return false
}

// endsIn is the longest of the words that a text ends in; "" for none. A word of Latin letters is a whole one.
func endsIn(text string, words []string) string {
	longest := ""
	for _, word := range words {
		rest, ok := strings.CutSuffix(text, word)
		if !ok || len(word) <= len(longest) {
			continue
		}
		if last := len(rest) - 1; word[0] >= utf8.RuneSelf || last < 0 || rest[last] < 'a' || rest[last] > 'z' {
			longest = word
		}
	}
	return longest
}
