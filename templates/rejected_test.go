package templates_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func TestRejectedCodeIsGoneAndThePageShowsToAskAgain(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	code := message("m-1", "인증번호 482103", "482103", 0)
	room.send(t, code)
	tab.step("code")
	tab.hasText("shout", "4 8 2 1 0 3")

	tab.do(chromedp.Click("#sms-reject"))
	tab.shows("reject-confirm")
	require.Len(t, room.made(), 1, "it asks first")
	tab.do(chromedp.Click("#reject-confirm"))
	tab.step("again")
	tab.nowhere("4 8 2 1 0 3")
	require.Equal(t, "POST /api/integration/lock/reject ", room.lastCall())
	require.Equal(t, object{"fence": 77.0, "message_id": "m-1"}, room.last().body)
	require.Contains(t, tab.text("turn-lead"), "다시\u00a0요청할게요")
	tab.shows("ask-again")
	room.send(t, code)
	room.push(t, object{"queue_length": 5})
	tab.hasText("queue-length", "3명이 기다려요") // of the idle part, which this state does not touch
	tab.step("again")
	tab.until(
		`document.getElementById("sms").dataset.count === "0" && !document.querySelector("main").innerText.includes("482103")`)

	tab.do(chromedp.Click("#ask-again"))
	tab.step("asked")
	room.send(t, message("m-2", "인증번호 777111", "777111", 0))
	tab.step("code")
	tab.do(chromedp.Click("#ask-again"))
	tab.step("asked")
	room.push(t, ended("completed"))
	tab.until(`document.getElementById("outcome").textContent === "인증번호가 도착했어요"`)

	room.then(object{"code": "too_many_rejects", "detail": "더 지울 수 없어요"})
	tab.do(chromedp.Click("#sms-reject"), chromedp.WaitVisible("#reject-confirm"),
		chromedp.Click("#reject-confirm"))
	tab.hasText("sms-note", "더 지울 수 없어요")
	require.Equal(t, object{"fence": 77.0, "message_id": "m-2"}, room.last().body,
		"the fence of the turn that is over")
	room.then(nil)
	tab.do(chromedp.Click("#sms-reject"), chromedp.WaitVisible("#reject-confirm"),
		chromedp.Click("#reject-confirm"))
	tab.until(`document.getElementById("outcome").textContent === "문자를 지웠어요"`)
	tab.hides("sms")
}

func (b *browser) rejects() {
	b.t.Helper()
	b.do(chromedp.Click("#sms-reject"), chromedp.WaitVisible("#reject-confirm"),
		chromedp.Click("#reject-confirm"))
}

func TestRejectedCodeIsNoSuccessWhateverElseHasCome(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, message("a", "광고", nil, time.Second))
	room.send(t, message("b", "인증번호 000000", "000000", 0))
	room.push(t, ended("completed"))
	tab.until(`document.getElementById("outcome").textContent === "인증번호가 도착했어요"`)
	green := `document.querySelector(".sign-done").checkVisibility()`
	lesser := `getComputedStyle(document.getElementById("join")).backgroundColor !== getComputedStyle(document.getElementById("reject-stay")).backgroundColor`
	tab.until(green + " && " + lesser) // a code is on show and comes first
	tab.rejects()
	tab.until(`document.getElementById("outcome").textContent === "문자를 지웠어요" && !(` + green + `) && !(` +
		lesser + `)`)
	tab.until(`document.title.startsWith("문자를 지웠어요")`)

	room.send(t, late(message("c", "인증번호 111111", "111111", 0)))
	// the seller still has to enter the code
	tab.until(`document.getElementById("outcome").textContent === "인증번호가 도착했어요" && ` + lesser)
}

// With SMS_COMPLETES=false a code does not end the turn.
func TestCodeThatWasRejectedInTheTurnIsNotHowItEnded(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	tab.step("code")
	tab.rejects()
	tab.step("again")
	room.then(ended("completed"))
	tab.do(chromedp.Click("#done"), chromedp.WaitVisible("#done-confirm"), chromedp.Click("#done-confirm"))
	tab.until(`document.getElementById("outcome").textContent === "인증을 마쳤어요"`)
}

func TestCodeIsTriedBeforeJoiningAgain(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	lesser := `getComputedStyle(document.getElementById("join")).backgroundColor !== getComputedStyle(document.getElementById("reject-stay")).backgroundColor`
	room.push(t, ended("expired"))
	tab.hasText("outcome-lead", "먼저 아래 인증번호를 마켓플레이스에 입력해 보세요")
	tab.until(lesser)
	tab.rejects()
	tab.until(`!(` + lesser + `)`)
}
