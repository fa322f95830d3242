package server

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

const twoMarkets = `
integration:
  marketplaces:
    - {name: 쿠팡, url: "https://wing.example/", from: [1588-1234], contains: 쿠팡}
    - {name: 옥션, url: "https://auction.example/", from: [1577-1234]}
`

// Without scripts the form sends the chosen marketplace, and the server asks for its messages alone.
func TestFormAsksForTheCodesOfTheChosenMarketplace(t *testing.T) {
	const coupang, auction = "15881234", "15771234"
	for market, senders := range map[string][2]string{
		"0": {coupang, auction}, "1": {auction, coupang}, "": {coupang, auction}, "7": {coupang, auction},
	} {
		t.Run("market "+market, func(t *testing.T) {
			r := start(t, config(t, "--rooms-file", roomsFile(t, twoMarkets), "--sms-webhook-secret", smsSecret))
			a := newReader(t, r.URL())
			a.submit(roomPage+"/join", "seller_id", "a", "lang", "ko")
			fence := fenceField(t, a)
			page := a.submit(roomPage+"/expect", "fence", fence, "key", "k", "market", market)
			require.Contains(t, page.body, `<select id="market-choice"`)
			comes := func(id, from string) string {
				return carrierTo(t, r.URL(), "integration", smsSecret, from, id, "[쿠팡] 인증번호 482913 "+id,
					time.Now().Add(10*time.Millisecond)).text("result")
			}
			require.Equal(t, "unmatched", comes("m-1", senders[1]))
			require.Equal(t, "matched", comes("m-2", senders[0]))
		})
	}
}

// A program asks without a filter. In a room whose marketplaces all have lists, no other sender ends its turn.
func TestSendersOfTheMarketplacesCountForEveryAsk(t *testing.T) {
	for file, ends := range map[string]string{
		twoMarkets: "unmatched",
		"integration: {marketplace: {from: [1588-1234]}}\n":                            "unmatched",
		"integration: {marketplaces: [{name: A, from: [1588-1234]}, {name: B}]}\n":     "matched",
		"integration: {sms_from: [07055551234], marketplace: {from: [1588-1234]}}\n":   "matched",
		"integration: {marketplace: {name: A, contains: 쿠팡}, sms_from: [1588-1234]}\n": "unmatched",
	} {
		r := start(t, config(t, "--rooms-file", roomsFile(t, file), "--sms-webhook-secret", smsSecret))
		a := newSeller(t, r.URL(), "a")
		fence := a.join().json["fence"].(json.Number)
		require.Equal(t, http.StatusOK, a.ask(http.MethodPost, lockPath+"/expect", `{"fence":`+fence.String()+`}`,
			asJSON, jsonType).StatusCode)
		got := carrierTo(t, r.URL(), "integration", smsSecret, "07055551234", "m-1", "[쿠팡] 인증번호 482913",
			time.Now().Add(10*time.Millisecond))
		require.Equal(t, ends, got.text("result"), file)
	}
}

func TestPageAsksForTheCodesOfTheChosenMarketplaceAndRemembersIt(t *testing.T) {
	r := start(t, config(t, "--rooms-file", roomsFile(t, twoMarkets), "--sms-webhook-secret", smsSecret))
	browser := browsertest.New(t)
	a := openPage(t, browser, r.URL())
	a.join("seller-a")
	a.state("locked")
	a.is(`(() => { const s = document.getElementById("market-choice"); s.value = "1";
		s.dispatchEvent(new Event("change")); return document.getElementById("ask").dataset.opens; })() ===
		"https://auction.example/"`)
	a.press("#ask")
	a.is(`document.body.dataset.step === "asked"`)
	comes := func(id, from string) string {
		return carrierTo(t, r.URL(), "integration", smsSecret, from, id, "[쿠팡] 인증번호 482913 "+id,
			time.Now().Add(10*time.Millisecond)).text("result")
	}
	require.Equal(t, "unmatched", comes("m-1", "15881234"))
	require.Equal(t, "matched", comes("m-2", "15771234"))
	a.state("ended")
	again := openPage(t, browser, r.URL())
	again.is(`document.getElementById("market-choice").value === "1"`)
}
