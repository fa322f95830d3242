package sim

import (
	"context"
	"fmt"
)

// codeText is the marketplace's text.
func codeText(code string) string {
	return fmt.Sprintf("[마켓] 인증번호는 [%s]입니다. 3분 안에 입력해 주세요.", code)
}

// dress returns a second message with the same code: the same text as another phone or app writes it down, or
// what the marketplace sends when the first way seems to have failed.
func (s *shift) dress(code string) (from, text string) {
	text = codeText(code)
	switch s.r.IntN(8) {
	case 0:
		return "", text
	case 1:
		return "8215881234", text
	case 2:
		return "00821588-1234", text
	case 3:
		return "마켓 고객센터", text
	case 4:
		return marketplace, "[Web 발신]\n" + text
	case 5:
		return marketplace, "SIM1: " + text
	case 6:
		return marketplace, fmt.Sprintf("[마켓] 인증번호 [%s] 14:35까지 입력해 주세요.", code)
	}
	return stranger, fmt.Sprintf("알림톡을 받지 못하셔서 문자로 보내 드려요. 마켓 본인확인 인증번호 %s", code)
}

// optOuts are texts of adverts with the number to opt out, as their senders write them.
var optOuts = []string{
	"(광고)[마켓] 주말 특가 안내\n무료수신거부 080-700-1122 인증번호 %s",
	"[마켓] 이달의 혜택이 도착했어요 [무료수신거부 0807001122 (인증번호:%s)]",
	"(광고) 마켓 쿠폰이 곧 끝나요! 수신거부 080 700 1122 / 인증번호 %s",
}

func (s *shift) nextAdvert() {
	if s.Adverts == 0 {
		return
	}
	s.after(int64(s.r.ExpFloat64()*3_600_000/s.Adverts), func(context.Context) error {
		s.carry(s.advert(), 0)
		s.nextAdvert()
		return nil
	})
}

func (s *shift) advert() message {
	m := message{from: stranger, text: "(광고) 오늘만 전 상품 무료배송! 무료수신거부 080"}
	if s.chance(s.AdvertsSame) {
		m.from = marketplace
	}
	switch {
	case s.chance(s.OptOut):
		number := s.number(5 + s.r.IntN(2))
		m.text = fmt.Sprintf(optOuts[s.r.IntN(len(optOuts))], number)
		if s.chance(s.Misread) {
			m.number = number
		}
	case s.chance(s.AdvertsNumber):
		m.text = fmt.Sprintf("(광고) 쿠폰번호 %s 를 입력하면 무료배송!", s.number(6))
	}
	return m
}

// forge sends a false code from a personal number.
func (s *shift) forge() {
	phones := []string{"01048291373", "010-4829-1373", "+82 10-4829-1373", "821048291373", "011-482-9137"}
	s.carry(message{forged: true, from: phones[s.r.IntN(len(phones))], text: "인증번호 " + s.number(6)}, 0)
}
