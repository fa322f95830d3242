package smstext

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMaskHidesEveryDigitAndAnyPossibleCode(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"digits of every script", "인증번호 482913 / ٤٨ ४८２ ① ½", "인증번호 ****** / ** *** * *"},
		{"nothing", "[쿠팡] no digits", "[쿠팡] no digits"},
		{"capital letters and digits", "코드는 A7K2QD 입니다", "코드는 ****** 입니다"},
		{"capital letters", "Your code is KXMPQR.", "Your code is ******."},
		{"three capital letters", "SKT 고객님, LG", "SKT 고객님, LG"},
		{"nine capital letters", "MARKETING 동의", "MARKETING 동의"},
		{"nine capital letters and digits", "ref ABCD12345", "ref *********"},
		{"a word with a digit, in small letters too", "seller2026님 v2", "**********님 **"},
		{"small letters", "Code Or code", "Code Or code"},
		{"pieces", "AB12-CD34, ABC-DEF, A B C D", "****-****, ***-***, * * * *"},
		{"a short word beside a short number", "AB 12", "** **"},
		{"a short word beside a long number", "OTP 482913", "OTP ******"},
		{"pieces within more pieces", "THE ABC DEF", "*** *** ***"},
		{"pieces on two lines", "SKT\nLGU", "SKT\nLGU"},
		{"pieces with a word between", "AB나CD", "AB나CD"},
		{"two separators between", "AB--CD", "AB--CD"},
		{"full-width forms", "ＡＢＣＤ ４８２９", "**** ****"},
		{"what no reader sees stays where it was", "A\u200bB\u00adC\ufeffD", "*\u200b*\u00ad*\ufeff*"},
		{"a Kelvin sign", "ABC\u212a", "****"},
		{"what is no text", "\xff12", "\uFFFD**"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Mask(tt.text), tt.name)
	}
}

func TestMaskAgainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("AB1a- \n*·\u200bＡ４가½ⅣK\u0301"))).Draw(t, "text")
		masked := Mask(text)
		require.Equal(t, masked, Mask(masked))
		require.Equal(t, MaskSender(text), MaskSender(MaskSender(text)))
		require.Len(t, []rune(masked), len([]rune(text)), "one for one")
	})
}

func TestMaskSenderLeavesTheLastFourDigits(t *testing.T) {
	for sender, want := range map[string]string{"1588-0000": "****-0000",
		"+82 10-1234-5678": "+** **-****-5678", "114": "114",
		"０１０１２３４５６７８": "*******５６７８", "쿠팡": "쿠팡", "": ""} {
		require.Equal(t, want, MaskSender(sender))
		require.Equal(t, want, MaskSender(want))
	}
}
