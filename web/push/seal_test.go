package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pushtest"
)

func bytesOf(t *testing.T, base64url string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(base64url)
	require.NoError(t, err)
	return b
}

// RFC 8291, appendix A.
func TestMessageIsSealedAsInTheStandardsExample(t *testing.T) {
	to := &Subscription{Auth: bytesOf(t, "BTBZMqHH6r4Tts7J_aSIgg"),
		P256dh: bytesOf(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")}
	sender, err := ecdh.P256().NewPrivateKey(bytesOf(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	require.NoError(t, err)
	body, err := sealWith([]byte("When I grow up, I want to be a watermelon"), to, sender,
		bytesOf(t, "DGv6ra1nlYgDCS1FRnbzlw"), 0)
	require.NoError(t, err)
	require.Equal(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"+
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
		base64.RawURLEncoding.EncodeToString(body))
}

func TestLengthOfAMessageSaysNothingOfIt(t *testing.T) {
	b := pushtest.NewBrowser(t, "https://push.example/1")
	to := &Subscription{P256dh: bytesOf(t, b.P256dh()), Auth: bytesOf(t, b.Auth())}
	lengths := map[int]bool{}
	for _, text := range []string{"", "지금 차례예요", strings.Repeat("x", paddedTo)} {
		body, err := seal([]byte(text), to)
		require.NoError(t, err)
		lengths[len(body)] = true
		read, err := b.Open(body)
		require.NoError(t, err)
		require.Equal(t, text, string(read))
	}
	require.Len(t, lengths, 1)
	_, err := seal(make([]byte, paddedTo+1), to)
	require.ErrorIs(t, err, errTooLong)
}

func TestSubscriptionIsPrintedByNoVerb(t *testing.T) {
	s := Subscription{Endpoint: "https://push.example/secret", Auth: []byte("secret"), P256dh: []byte("secret")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(verb+verb, s, &s), "secret", verb)
	}
}
