//go:build long

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// Support assigns an unexpected code to the seller who asks for it by telephone.
func TestMessageThatAnAgentAssignsIsShownOnItsSellersPage(t *testing.T) {
	o := openOffice(t, "--sms-webhook-secret", smsSecret)
	browser := browsertest.New(t)
	agent := agentPage(t, page{t, browsertest.Isolated(t, browser)}, o.a.URL())
	seller, next := openPage(t, browsertest.Isolated(t, browser), o.b.URL()),
		openPage(t, browsertest.Isolated(t, browser), o.b.URL())
	seller.join("s-1")
	seller.state("locked")
	next.join("s-2")
	next.state("waiting")
	granted := moment(t, newAgent(t, o.b.URL(), "kim").history("",
		func(r reply) bool { return len(r.list("leases")) == 1 }).
		list("leases")[0].(map[string]any)["granted_at"].(string))
	got := carrier(t, o.a.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다", granted)
	require.JSONEq(t, `{"result":"unmatched","reason":"not_expected"}`, got.body)

	agent.is(`document.querySelector("#items button") && !document.body.innerText.includes("482913")`)
	agent.does("#items button", `true`)
	seller.state("ended")
	seller.is(`document.querySelector("#sms-code").textContent === "482913"`)
	seller.noticed()
	next.state("locked")
	next.is(`!document.body.innerText.includes("482913")`)
	agent.is(`document.getElementById("holder-seller").textContent === "s-2" && !document.querySelector("#items button") && window.wasHere`)
}
