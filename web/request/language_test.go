package request

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without Accept-Language the answer is Korean; with only other languages it is English.
func TestLanguageIsTheOneThatIsAskedForElseEnglishElseKorean(t *testing.T) {
	for accept, want := range map[string][2]string{ // seller's, desk's
		"":                                 {"ko", "ko"},
		"*":                                {"ko", "ko"},
		"!!":                               {"ko", "ko"},
		"ko":                               {"ko", "ko"},
		"ko-KR,ko;q=0.9,en-US;q=0.8":       {"ko", "ko"},
		"en-GB,ko;q=0.5":                   {"en", "en"},
		"ja":                               {"ja", "en"},
		"ja-JP,ja;q=0.9,ko;q=0.8":          {"ja", "ko"},
		"vi-VN,vi;q=0.9,en;q=0.8":          {"vi", "en"},
		"zh":                               {"zh-Hans", "en"},
		"zh-CN,zh;q=0.9":                   {"zh-Hans", "en"},
		"zh-Hans-SG":                       {"zh-Hans", "en"},
		"zh-TW,zh;q=0.9":                   {"zh-Hans", "en"},
		"fr":                               {"en", "en"},
		"fr-FR, *;q=0.1":                   {"en", "en"},
		"fr,de;q=0.9,th;q=0.8":             {"en", "en"},
		"fr,ko;q=0.1":                      {"ko", "ko"},
		"th,vi;q=0.5":                      {"vi", "en"},
		"en;q=0.1,vi;q=0.9":                {"vi", "en"},
		"ja;q=0, en":                       {"en", "en"},
		"ru-RU,ru;q=0.9,en;q=0.8,ko;q=0.7": {"en", "en"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", accept)
		require.Equal(t, want, [2]string{Seller.Accepted(r), Desk.Accepted(r)}, accept)
	}
	require.Equal(t, "ko", Seller.Accepted(httptest.NewRequest(http.MethodGet, "/", nil)), "no header at all")
}

func TestChosenLanguageStandsWhereItIsSpokenAndGivesWayWhereItIsNot(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Language", "ko")
	r.AddCookie(&http.Cookie{Name: LangCookie, Value: "zh-Hans"})
	require.Equal(t, "zh-Hans", Seller.Page(r))
	require.Equal(t, "ko", Desk.Page(r), "support's pages are in Korean and English")
}
