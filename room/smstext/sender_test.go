package smstext

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSendersAreComparedByTheirDigits(t *testing.T) {
	for _, same := range []string{"010-1234-5678", "010 1234 5678", "+82 10-1234-5678", "(+82)1012345678",
		"＋82 10 1234 5678", "+82(0)10-1234-5678", "０１０１２３４５６７８"} {
		require.True(t, OneOf(same, []string{"02-000-0000", "01012345678"}), same)
	}
	for _, other := range []string{"821012345678", "1012345678", "0101234567", "010-1234-5678 +82", "coupang",
		""} {
		require.False(t, OneOf(other, []string{"01012345678"}), other)
	}
	require.True(t, OneOf(" Coupang", []string{"COUPANG"}))
	require.True(t, OneOf("+8215881234", []string{"1588-1234"}),
		"it is called so from everywhere in Korea")
	require.False(t, OneOf("+8225881234", []string{"2588-1234"}), "a number of Seoul")
	require.False(t, OneOf("SHOP24", []string{"24"}), "a sender with letters is compared whole")
	require.False(t, OneOf("SHOP24", []string{"MART24"}))
}

func TestPersonalNumbersAreKoreanMobileNumbersInAnySpelling(t *testing.T) {
	for _, yes := range []string{"01012345678", "010-1234-5678", "+82 10-1234-5678", "821012345678",
		"00821012345678", "+820101234567", "011-123-4567", "016 123 4567", "０１０１２３４５６７８", "019.1234.5678",
		"tel:+821012345678", "sms:+821012345678", "+821012345678/TYPE=PLMN", "001-82-10-1234-5678",
		"00700821012345678", "+82 (0)10-1234-5678", "김철수 010-1234-5678", "010-1234-5678 (김)", "01012345678@x",
		"*23#01012345678", "010-1234-5678#1", "15881234,01012345678", "٠١٠١٢٣٤٥٦٧٨"} {
		require.True(t, Personal(yes), yes)
	}
	for _, no := range []string{"", "1588-1234", "+8215881234", "16001234", "16991234", "18001234", "0212345678",
		"0212-345-6789", "07012345678", "080-123-4567", "COUPANG", "0123456789", "01112345", "+1 101 234 5678",
		"+8613812345678", "카카오 1588-1234", "G010"} {
		require.False(t, Personal(no), no)
	}
}

// A list has its senders, however they are written.
func FuzzSender(f *testing.F) {
	for _, seed := range [][2]string{{"15881234", "1588-1234"}, {"+82 10-1234-5678", "01012345678"},
		{"쿠팡", "쿠팡 "}, {"", " "}, {"82", "+82"}, {"＋８２１０", "010"}, {"A", "a"}, {"\xff", "\u212a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		require.True(t, OneOf(one, []string{other, one}))
		wide := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r + '０' - '0'
			}
			return r
		}, one)
		require.True(t, OneOf(one, []string{wide}), "in full width")
		require.Equal(t, OneOf(one, []string{other}), OneOf(other, []string{one}), "in either order")
		masked := MaskSender(one)
		require.Equal(t, masked, MaskSender(masked), "masking again changes nothing")
		require.Equal(t, utf8.RuneCountInString(one), utf8.RuneCountInString(masked))
		require.LessOrEqual(t, len(regexp.MustCompile(`\p{Nd}`).FindAllString(masked, -1)), shownDigits)
	})
}
