package web

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/web/problem"
)

// A field outside the contract is ignored, also if only capitals distinguish it from one inside.
func TestNamesOfFieldsAreExact(t *testing.T) {
	body, err := parseBody[lockBody]([]byte(
		`{"seller_id":"a1","SELLER_ID":"b1","Session_ID":7,"ſession_id":"x","aſks":true}`), nil)
	require.NoError(t, err)
	require.Equal(t, lockBody{Seller: "a1"}, body)
	body, err = parseBody[lockBody]([]byte(`{"SELLER_ID":"x1","pad":["<\u2028>"]}`), nil)
	require.NoError(t, err)
	require.Zero(t, body)
	body, err = parseBody[lockBody]([]byte(`{"SELLER_ID":"x1","seller_id":"a","asks":true,"seller_id":"\u003cb"}`), nil)
	require.NoError(t, err)
	require.Equal(t, lockBody{Seller: "<b", Asks: true}, body, "the last of one name counts")
	_, err = parseBody[lockBody]([]byte(`{"seller_id":7,"SELLER_ID":"x1"}`), nil)
	require.Equal(t, problem.Refusal("invalid_seller"), err)
	_, err = parseBody[lockBody]([]byte(`{"SELLER_ID":"x1"`), nil)
	require.Equal(t, problem.Refusal("invalid_json"), err)

	body, err = parseBody[lockBody]([]byte("\uFEFF"+`{"seller_id":"a1"}`), nil)
	require.NoError(t, err, "some programs begin a text with a byte order mark")
	require.Equal(t, lockBody{Seller: "a1"}, body)

	_, err = parseExpect([]byte(`{"Fence":7}`))
	require.Equal(t, problem.Refusal("invalid_fence"), err)
	asked, err := parseExpect([]byte(`{"fence":9007199254740993,"FENCE":8,"From":["1"]}`))
	require.NoError(t, err)
	require.Equal(t, expectBody{Fence: 9007199254740993}, asked)
	claimed, err := parseClaim([]byte(`{"FENCE":"x"}`))
	require.NoError(t, err)
	require.Zero(t, claimed)
	pushed, err := parseBody[pushBody]([]byte(
		`{"endpoint":"e","Endpoint":"f","keys":{"auth":"a","AUTH":"b","P256DH":"c"},"KEYS":{"p256dh":"d"}}`), nil)
	require.NoError(t, err)
	require.Equal(t, pushBody{Endpoint: "e", Keys: pushKeys{Auth: "a"}}, pushed)
}

// A body of the usual size is read in a moment, and the largest in a few.
func BenchmarkLockBody(b *testing.B) {
	for name, text := range map[string]string{"usual": `{"seller_id":"s-1","asks":true}`,
		"large": `{"seller_id":"s-1"` + strings.Repeat(`,"SELLER_ID":"x"`, 1000) + `}`} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				_, _ = parseBody[lockBody]([]byte(text), nil)
			}
		})
	}
}
