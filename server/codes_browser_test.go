package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// text returns the JavaScript expression of an element's text.
func text(id string) string { return `document.querySelector("` + id + `").textContent.trim()` }

// Two sellers use two replicas. A code is expected, received, rejected, late, and claimed without an ask.
func TestSellersPageTakesACodeFromTheAskToTheEnd(t *testing.T) {
	store := redistest.Lent(t).URL()
	args := []string{"--redis-url", store, "--sms-webhook-secret", smsSecret}
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "409")
	a, b := openPage(t, browser, one.URL()), openPage(t, browsertest.Isolated(t, browser), other.URL())
	a.join("seller-a")
	a.state("locked")
	b.join("seller-b")
	b.state("waiting")

	require.Contains(t, carrier(t, other.URL(), "advert", "(광고) 주말 특가 안내", time.Now()).body, "not_expected")
	a.state("locked")
	a.press("#ask")
	a.is(`document.body.dataset.step === "asked"`)
	a.picture("asked", false)
	require.Contains(t, carrier(t, other.URL(), "advert-2", "(광고) 오늘만 드리는 혜택",
		time.Now().Add(10*time.Millisecond)).body, `"matched"`)
	a.is(`document.body.dataset.step === "text"`) // it is shown, ends nothing and is no success
	a.state("locked")
	require.Contains(t, carrier(t, other.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다",
		time.Now().Add(10*time.Millisecond)).body, `"matched"`)
	a.state("ended")
	a.is(text("#sms-code") + ` === "482913"`)
	b.state("locked")
	a.picture("code", false)

	a.press("#sms-reject")
	a.press("#reject-confirm")
	a.is(`!document.body.innerText.includes("482913")`)
	b.is(`document.body.dataset.step === "busy"`) // a's ask is open again
	b.is(`/^0:([0-2][0-9]|30)$/.test(` + text("#ask-countdown") + `)`)
	b.picture("busy", false)
	require.Contains(t, carrier(t, one.URL(), "m-2", "[쿠팡] 인증번호는 [555666] 입니다", time.Now()).body, `"late"`)
	a.is(text("#sms-code") + ` === "555666"`)
	a.picture("late", false)

	b.is(`document.body.dataset.step === "ask"`) // nothing else may come any more
	require.Contains(t, carrier(t, one.URL(), "m-3", "[쿠팡] 인증번호는 [777888] 입니다", time.Now()).body, "not_expected")
	b.is(`document.querySelector("#unclaimed").checkVisibility()`)
	b.is(`!document.body.innerText.includes("777888")`)
	b.picture("unclaimed", false)
	b.press("#unclaimed-yes")
	b.state("ended")
	b.is(text("#sms-code") + ` === "777888"`)
}
