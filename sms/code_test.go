package sms

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room/smstext"
)

func TestCodeIsTheRunOfDigitsThatTheWordingMarks(t *testing.T) {
	tests := []struct{ name, text, want string }{
		// The label comes before the code.
		{"in brackets", "[쿠팡] 인증번호는 [482913]입니다.", "482913"},
		{"behind a particle", "[스마트스토어] 인증번호 482913 을 입력해 주세요", "482913"},
		{"in round brackets", "인증번호(4829)를 화면에 적어 주세요.", "4829"},
		{"behind a colon", "[11번가] 인증번호: 482913", "482913"},
		{"full-width colon and space", "인증번호　：　482913", "482913"},
		{"without any space", "인증번호482913", "482913"},
		{"on the next line", "[Web발신]\n[지마켓] 본인확인 인증번호\n[482913]\n타인에게 알려주지 마세요", "482913"},
		{"after a request", "인증번호를 3분 안에 입력해 주세요.\n482913", "482913"},
		{"with its length", "인증번호(6자리): 482913", "482913"},
		{"split label", "인증 번호는 482913입니다", "482913"},
		{"인증코드", "옥션 인증코드 73920184 입니다", "73920184"},
		{"확인코드", "확인코드는 5521 이에요", "5521"},
		{"확인번호", "요청하신 확인번호 552190", "552190"},
		{"보안코드", "판매자센터 보안코드=904417", "904417"},
		{"승인번호", "로그인 승인번호 [904417]", "904417"},
		{"본인확인", "본인확인을 위해 904417 을 넣어 주세요", "904417"},
		{"일회용 비밀번호", "일회용 비밀번호 <904417>", "904417"},
		{"OTP", "OTP 904417 유효시간 5분", "904417"},
		{"otp with a particle", "otp는 904417", "904417"},
		{"Chinese marketplace", "【店铺】您的验证码是482913，请勿泄露", "482913"},
		{"Japanese marketplace", "認証コード：482913 を入力してください", "482913"},
		{"English, is", "Your verification code is 482913. Never share it.", "482913"},
		{"English, colon", "Seller Hub security code: 4829", "4829"},
		{"English, is and colon", "Your one-time password is: 482913", "482913"},
		{"English, plain code", "Use code 482913 to sign in", "482913"},
		{"English, passcode", "Passcode 48291377 expires in 10 minutes", "48291377"},
		{"bound to a site", "@seller.example.com #482913", "482913"},
		{"bound to a site with a number", "@seller2026.example.com #482913", "482913"},

		// The label comes after the code.
		{"is your code", "482913 is your Marketplace verification code.", "482913"},
		{"letter and hyphen", "G-482913 is your verification code", "482913"},
		{"label in brackets", "482913 (인증번호)", "482913"},
		{"bracketed, then label", "[482913] 인증번호를 입력해 주세요", "482913"},
		{"topic particle", "482913은 쿠팡윙 인증번호입니다", "482913"},
		{"code for an order", "482913 is your verification code for order 20261121", "482913"},

		// Other things with digits.
		{"an amount before", "12만원 결제 요청, 인증번호 482913", "482913"},
		{"a longer amount before", "1234567원 결제 인증번호는 482913", "482913"},
		{"an amount with a comma", "12,345원 결제를 위한 인증번호 482913", "482913"},
		{"an amount with four digits after a comma", "1,2345원 승인번호 482913", "482913"},
		{"won sign", "₩5000 결제 인증 482913", "482913"},
		{"a service number before", "1588-1234에서 보낸 인증번호는 482913입니다", "482913"},
		{"a telephone number before", "02-1234-5678 [셀러] 인증번호 482913", "482913"},
		{"a mobile number before", "010-1234-5678 고객님의 인증번호는 482913", "482913"},
		{"a service number after the label", "인증번호 안내 (문의 1588-1234) 482913", "482913"},
		{"an unbroken service number", "인증번호 안내 고객센터 15881234 번호 482913", "482913"},
		{"a date before", "2026-11-21 10:20:30 인증번호 482913", "482913"},
		{"a dotted date", "2026.11.21 인증번호 482913", "482913"},
		{"a Korean date", "2026년 11월 21일 인증번호 482913", "482913"},
		{"a year after the label", "인증번호 발급 2026년 11월 21일 / 482913", "482913"},
		{"an order number before", "주문번호 20261121 관련 인증번호 482913", "482913"},
		{"an order between label and code", "인증번호 안내 - 주문번호 20261121 [482913]", "482913"},
		{"a card before", "카드(1234) 본인 인증번호 482913", "482913"},
		{"a web address between", "인증번호는 https://m.example.kr/2026/1234 에서 482913", "482913"},
		{"an id that ends in digits", "seller2026님의 인증번호 482913", "482913"},
		{"a warning repeats the label", "인증번호 [482913]. 인증번호를 남에게 알려주지 마세요. 15881234", "482913"},
		{"the label twice, the code last", "인증번호는 알려주지 마세요. 인증번호: 482913", "482913"},
		{"two codes", "인증번호 482913, 인증번호 112233", "482913"},
		{"a strong label against a weak one", "상품코드 55667788, 인증번호 482913", "482913"},

		// Nothing marks one: the first run.
		{"a bare run", "482913", "482913"},
		{"the first of two", "hello 1234 and 567890", "1234"},
		{"three words that speak of no code", "hello there 1234 and 567890", ""},
		{"a sender without brackets", "Gmarket 482913", "482913"},
		{"a word in a script without blanks", "급여 482913", ""},
		{"an amount is all there is", "5000원이 입금되었습니다", ""},
		{"a broken code", "Your verification code is: 1234-5678", "12345678"},
		{"full-width digits", "인증번호는 ４８２９１３ 입니다", "482913"},
		{"half and full width are one run", "인증번호 48２９13", "482913"},

		// None.
		{"no digits", "안녕하세요", ""},
		{"too short", "번호 123", ""},
		{"too long, and not cut", "인증번호 123456789", ""},
		{"too long beside one", "접수 123456789012 인증번호 482913", "482913"},
		{"a mobile number without hyphens", "01012345678", ""},
		{"in threes", "code 123-456", "123456"},
		{"digits of another script", "رمز ١٢٣٤٥٦", "123456"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, ok := FindCode(tt.text)
			require.Equal(t, tt.want != "", ok)
			require.Equal(t, tt.want, code.Reveal())
		})
	}
}

// These texts have shapes that no line of the corpus has.
func TestWordingSeparatesACodeFromAnotherNumber(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"letters beside a strong label", "OTP: KXMPQR", "KXMPQR"},
		{"letters beside a weak label", "Your Uber code is KXMPQR.", "KXMPQR"},
		{"letters that begin a sentence", "Your Uber code is NEVER told to others.", ""},
		{"letters in a text of capitals", "YOUR UBER CODE: NEVER.", ""},
		{"letters in small and capitals beside a label", "OTP: Kxmpqr", ""},
		{"a strong label in reach before a bare run", "요청 77123 처리. 아래 OTP 를 적어 주세요: 482913", "482913"},
		{"a weak label in reach before a bare run", "요청 77123 처리. 아래 코드를 화면에 적어 주세요\n482913", "482913"},
		{"out of reach", "요청 77123 처리. 아래 코드를 " + strings.Repeat("꼭 ", 40) + "482913", "77123"},
		{"a year beside a weak label", "Your Uber code is 2026.", "2026"},
		{"a year in reach alone", "인증번호를 확인해 주세요 2026", ""},
		{"a year in front of a sender's label", "[2026] 인증번호를 확인해 주세요", ""},
		{"a year before a code", "2026 4829 는 인증번호", "4829"},
		{"a year behind a code", "인증번호 4829 2026 신년", "4829"},
		{"a year in reach before the label, said of something else", "2026 결산. 인증번호를 확인해 주세요", ""},
		{"a day", "20261121", ""},
		{"a service number without a hyphen", "15881234", ""},
		{"a price", "35000", ""},
		{"another Latin letter", "Ä1234", ""},
		{"another Latin letter behind", "1234ß", ""},
		{"a mark", "1234\u0301", ""},
		{"seconds of times", "상영 21:30 45 50", ""},
		{"a product", "AB-1234", ""},
		{"a code with two letters before it", "인증번호 AB-1234", "1234"},
		{"uneven pieces", "123-4567", ""},
		{"uneven pieces beside a label", "인증번호 123-4567", "1234567"},
		{"two pairs", "12 34", ""},
		{"three pairs", "12 34 56", "123456"},
		{"three pairs that are a day", "26 11 21", ""},
		{"two fours", "4829 1377", ""},
		{"a short number before pieces", "인증 안내 100 482-913", "482913"},
		{"letters and digits with blanks", "인증번호 A 7 K 2 Q D 입니다", "A7K2QD"},
		{"letters and digits in two pieces", "인증번호 A7K 2QD 입니다", "A7K2QD"},
		{"nine digits with blanks", "인증번호 482 913 377 입니다", ""},
		{"letters and digits in the middle of a line", "인증번호를 적어 주세요 IPHONE16 으로", ""},
		{"letters and digits before a label in reach", "A7K2QD 라고 적힌 인증번호를 확인", ""},
		{"an amount with its sign", "₩5900", ""},
		{"an amount with its currency", "Rs. 5900 paid", ""},
		{"part of a name", "seller-2026x abc_4829", ""},
		{"a label with a hyphen", "code-482913", "482913"},
		{"a name behind", "482913-abc", ""},
		{"stars behind", "4829****", ""},
		{"stars on both sides", "**4829**", "4829"},
		{"a sender that names another number", "[주문] 482913", "482913"},
		{"a line that names another number", "주문\n482913", ""},
		{"the key of a locker, a sentence on", "문 앞 함에 보관했습니다. 비밀번호 4829", ""},
		{"the key of a numbered locker, a sentence on", "It is in locker B7. PIN: 4829", ""},
		{"a code of a sender that has lockers", "Locker Hub. Your login PIN: 4829", "4829"},
	}
	for _, tt := range tests {
		code, _ := FindCode(tt.text)
		require.Equal(t, tt.want, code.Reveal(), tt.name)
	}
}

// These are shapes of real senders' messages, with other brands and digits.
func TestShapesThatWereReadWronglyOnce(t *testing.T) {
	tests := []struct{ text, want string }{
		{"验证码730214，5分钟内有效", "730214"},
		{"인증번호 730214,3분", "730214"},
		{"인증번호 730214은 만료되었습니다. 새 인증번호 482913", "482913"},
		{"인증번호 [482913] 만료되었을 경우 다시 요청하세요", "482913"},
		{"계정 이전 인증번호 [482913]", "482913"},
		{"인증번호 482913은 만료되었습니다", ""},
		{"Your code 730214 has expired. Your new code is 482913", "482913"},
		{"인증번호 730214/3분", "730214"},
		{"인증번호 730214~3분", "730214"},
		{"730214/3분", "730214"},
		{"730214~3분", "730214"},
		{"인증번호 4829/3분", "4829"},
		{"인증번호 안내 1204/1500", ""},
		{"인증번호 482,913원", ""},
		{"[은행] 홍*동(4821) 06/11 12:00 출금 4,500원", ""},
		{"9427 김*환님", ""},
		{"삼성6483승인", ""},
		{"*250284", ""},
		{"대상카드 : 9427 카드", ""},
		{"Mastercard **** 5791\nCode for the payment: 604413", "604413"},
		{"OTP for RAMESH (AB1245) is 811739 (valid for 10 mins).", "811739"},
		{"Ma OTP cua tai khoan 22419087 la 500061", "500061"},
		{"otp of 4417 is 9920", "9920"},
		{"客服热线 10087", ""},
		{"订单号为 771203", ""},
		{"凭取件码 604413 取件", ""},
		{"会议室 1307", ""},
		{"Reference 81736450 confirmed", ""},
		{"Your account balance is 654901", ""},
		{"Apple Store pickup code: 604413", ""},
		{"use OTP-604413", "604413"},
		{"رمز التحقق الخاص بك هو ٦٠٤٤١٣", "604413"},
		{"کد ورود شما ۶۰۴۴۱۳ است", "604413"},
		{"Code d'authentification : AA4B1A", "AA4B1A"},
		// The receiver's number is no code.
		{"4821로 끝나는 번호로 인증번호를 보냈습니다", ""},
		{"인증번호를 4821번으로 보냈습니다", ""},
		{"Your verification code was sent to 4821", ""},
		{"Reply YES to confirm your appointment 4821", ""},
		{"인증번호 3회 오류로 4821 카드가 정지되었습니다", ""},
		{"交易4821完成", ""},
	}
	for _, tt := range tests {
		code, _ := FindCode(tt.text)
		require.Equal(t, tt.want, code.Reveal(), tt.text)
	}
}

// A word that speaks against a number does so only where it is meant.
func TestWordsAgainstANumberSpareTheCodeBesideThem(t *testing.T) {
	tests := []struct{ text, want string }{
		{"인증번호 482913\n무료수신거부 080-123-4567 (인증번호 55123)", "482913"},
		{"무료수신거부 080-123-4567 인증번호 482913", ""},
		{"강변로 1204 누리가구. 수신을 원치 않으시면 0801234567 인증번호 5512", ""},
		{"Your code is 482913. Reply STOP to opt out", "482913"},
		{"고객센터 080-123-4567\n인증번호 482913", "482913"},
		{"승인번호 482913 로 결제가 취소되었습니다", ""},
		{"승인번호 482913 을 입력하면 결제가 취소됩니다", "482913"},
		{"인증번호 482913은 무효입니다. 새 인증번호 482914", "482914"},
		{"인증번호 482913 (이전 인증번호는 무효)", "482913"},
		{"인증번호 482913 사용 불가 시 다시 요청하세요", "482913"},
		{"인증번호 482913 폐기 전에 입력하세요", "482913"},
		{"이전 인증번호 482913, 새 인증번호 482914", "482914"},
		{"验证码482913，失效时间5分钟", "482913"},
		{"Your code 482913 is no longer valid after 10 minutes", "482913"},
		{"오류 코드 4829. 인증번호 730214", "730214"},
		{"인증 실패로 새 인증코드 482913 을 보냅니다", "482913"},
		{"오늘 게임 1027 4/6", ""},
		{"Wordle 1027 4/6", ""},
		{"인증번호 1027 4/6", "1027"},
		{"LINE: 482913", "482913"},
		{"누리샵: 5550143", ""},
		{"인증번호 5550143", "5550143"},
	}
	for _, tt := range tests {
		code, _ := FindCode(tt.text)
		require.Equal(t, tt.want, code.Reveal(), tt.text)
	}
}

func TestDigitsOfEveryScriptAreReadAndMasked(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsDigit(r) {
			continue
		}
		plain := smstext.Plain(r)
		require.True(t, plain >= '0' && plain <= '9', "%U", r)
		require.Equal(t, "*", smstext.Mask(string(r)), "%U", r)
	}
	for zero, nine := range map[rune]rune{'٠': '٩', '۰': '۹', '०': '९', '๐': '๙', '０': '９', '𝟎': '𝟗', '𝟶': '𝟿'} {
		require.Equal(t, "09", smstext.Normal(string([]rune{zero, nine})))
	}
}

var codeShape = regexp.MustCompile(`^[0-9A-Z]{4,8}$`)

func FuzzCodeIsFourToEightCapitalsOrDigitsOfTheTextAndGoneOnceItIsMasked(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.text)
	}
	for _, seed := range []string{"", "인증\xff번호1234", strings.Repeat("1234 code ", 50), "code ABCDEFGHK\u0301",
		"코드: \u212aABC1", "@a.b #1\u200b2③4A-B",
		"code: 1 2 3 4 5 6 7 8 9", "OTP AB-CD.", "code G-1234-5678", "A\u00c112345 code"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		masked := smstext.Mask(text)
		require.Equal(t, masked, smstext.Mask(masked), "masking again changes nothing")
		require.NotRegexp(t, `\p{N}`, masked)
		code, ok := FindCode(text)
		if !ok {
			require.Empty(t, code.Reveal())
			return
		}
		require.Regexp(t, codeShape, code.Reveal())
		require.Contains(t, unseparated.Replace(smstext.Normal(text)), code.Reveal())
		require.NotContains(t, unseparated.Replace(smstext.Normal(masked)), code.Reveal())
	})
}

// unseparated removes the separators that a code may have between its characters.
var unseparated = strings.NewReplacer("-", "", "_", "", "·", "", " ", "")

func BenchmarkFindCode(b *testing.B) {
	texts := map[string]string{"usual": "[Web발신]\n[지마켓] 본인확인 인증번호\n[482913]\n타인에게 알려주지 마세요",
		"bank":              "[Web발신]\n[누리은행] 홍*동(4821) 11/25 12:00 출금 4,500원 잔액 1,204,310원 문의 1588-1234",
		"16 KiB of numbers": strings.Repeat("1234 ", 16<<10/5),
		"16 KiB of codes":   strings.Repeat("code 1234 ", 16<<10/10),
		"16 KiB of labels":  strings.Repeat("인증번호 ", 16<<10/13),
		"16 KiB of one run": strings.Repeat("1-", 16<<10/2)}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				FindCode(text)
			}
		})
	}
}
